/** What was asked for cannot be done: the message says why, to a person at a terminal. */
export class AdminFault extends Error {
  override readonly name = 'AdminFault';
}
