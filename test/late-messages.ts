import { configure } from "@testing-library/react";

// A query that waits fails many times before it succeeds. Each failure would describe the whole document; here it is described
// only when the message is read, which is when a test fails.
configure(({ getElementError }) => ({
  getElementError: (message, container) => {
    const error = new Error();
    error.name = "TestingLibraryElementError";
    Object.defineProperty(error, "message", {
      configurable: true,
      get: () => getElementError(message, container).message,
    });
    return error;
  },
}));
