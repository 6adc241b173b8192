/** The stack cannot start or continue. The message tells the user the reason and the remedy. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
