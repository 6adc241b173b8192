/** Why the local stack cannot start, or go on, in a sentence for the person in front of it that says what to do. */
export class LaunchError extends Error {
  override readonly name = 'LaunchError';
}
