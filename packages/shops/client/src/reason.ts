/** The message of whatever was thrown. Shop systems also throw objects that are no errors. */
export const reasonOf = (thrown: unknown): string => {
  const { message } = (thrown ?? {}) as { message?: unknown };
  if (typeof message === 'string') return message;
  return typeof thrown === 'string' ? thrown : (JSON.stringify(thrown) ?? String(thrown));
};
