import { createStack, type RunningStack, type Stack, type StackOptions } from './stack.ts';

export { LaunchError } from './launch-error.ts';
export { createStack, type RunningStack, type Stack, type StackOptions };

/** Starts a stack from code, without the command line and the banner of `npm start`. */
export const startStack = async (options: StackOptions): Promise<RunningStack & Pick<Stack, 'stop' | 'pidOf'>> => {
  const stack = createStack(options);
  const running = await stack.start();
  return { ...running, stop: stack.stop, pidOf: stack.pidOf };
};
