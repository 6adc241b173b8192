/** For the default branch of an exhaustive switch: a value that the types exclude is a bug. */
export const unreachable = (value: never): never => {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
};
