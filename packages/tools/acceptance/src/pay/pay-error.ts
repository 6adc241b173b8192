/** The user has to change the command, or something that the message names. */
export class PayError extends Error {
  override readonly name = 'PayError';
}
