import type { Writable } from 'node:stream';

const MAX_BUFFERED_BYTES = 1024 * 1024;

/** Writes lines to a stream. Drops and counts lines when the reader is too slow, so that a stopped reader never blocks
 *  the processes. Ignores a closed stream. */
export const createLineWriter = (stream: Writable): ((line: string) => void) => {
  let dropped = 0;
  stream.on('error', () => {});
  return (line) => {
    if (!stream.writable) return;
    if (stream.writableLength > MAX_BUFFERED_BYTES) {
      dropped += 1;
      return;
    }
    if (dropped > 0) stream.write(`(${dropped} lines were dropped because the output was not read)\n`);
    dropped = 0;
    stream.write(`${line}\n`);
  };
};
