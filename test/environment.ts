/** The environment for programs that tests start: `PATH` and the compile cache, but nothing else of the user's environment. */
export const bareEnvironment: Readonly<Record<string, string | undefined>> = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};
