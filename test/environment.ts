/** For programs that tests start: they find others, and start as fast as they did before. Nothing else of whoever runs the tests. */
export const bareEnvironment: Readonly<Record<string, string | undefined>> = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};
