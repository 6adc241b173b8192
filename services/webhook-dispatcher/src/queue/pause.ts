/** Waits that `end` cuts short. */
export const createPause = () => {
  let end = () => {};
  return {
    wait: (ms: number) =>
      new Promise<void>((done) => {
        const timer = setTimeout(done, Math.max(0, ms));
        end = () => {
          clearTimeout(timer);
          done();
        };
      }),
    end: () => end(),
  };
};
