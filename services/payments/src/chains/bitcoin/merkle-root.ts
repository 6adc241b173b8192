import { Worker } from 'node:worker_threads';
import type { RawTransaction } from './transactions.ts';

export interface MerkleQuestion {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Start and end of each transaction without its witnesses. */
  readonly ranges: Uint32Array<ArrayBuffer>;
}

export interface MerkleAnswer {
  /** Null if transactions are repeated at the end, which gives the root of the block without them
   *  (CVE-2012-2459). */
  readonly root: Uint8Array | null;
  /** The bytes of the question. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface MerkleRoots {
  /** The Merkle root of at least one transaction in `bytes`. They must be alone in their ArrayBuffer, which moves to
   *  the thread and back with the answer. Source: Bitcoin developer reference, "Merkle Trees". */
  readonly of: (
    bytes: Buffer,
    transactions: readonly RawTransaction[],
  ) => Promise<{ readonly root: Uint8Array | null; readonly bytes: Buffer }>;
  readonly close: () => Promise<void>;
}

interface Waiting {
  readonly resolve: (answer: MerkleAnswer) => void;
  readonly reject: (error: Error) => void;
}

/** Calculates Merkle roots in a thread of their own, which starts with the first one: a block takes
 *  thousands of hashes, and meanwhile this thread fetches and reads other blocks. */
export const merkleRoots = (): MerkleRoots => {
  let worker: Worker | undefined;
  /** In the order in which the thread answers. */
  const waiting: Waiting[] = [];

  const start = (): Worker => {
    const started = new Worker(new URL('./merkle-worker.mjs', import.meta.url), { execArgv: [] });
    started.on('message', (answer: MerkleAnswer) => {
      waiting.shift()?.resolve(answer);
      if (waiting.length === 0) started.unref();
    });
    let cause: unknown;
    started.on('error', (error) => (cause = error));
    started.on('exit', (code) => {
      worker = undefined;
      const error = new Error(`the thread of Merkle roots ended with code ${code}`, { cause });
      for (const { reject } of waiting.splice(0)) reject(error);
    });
    return started;
  };

  const ask = (question: MerkleQuestion): Promise<MerkleAnswer> =>
    new Promise((resolve, reject) => {
      worker ??= start();
      worker.postMessage(question, [question.bytes.buffer, question.ranges.buffer]);
      worker.ref();
      waiting.push({ resolve, reject });
    });

  return {
    of: async (bytes, transactions) => {
      const question = { bytes: bytes as Buffer<ArrayBuffer>, ranges: rangesOf(transactions) };
      const { root, bytes: moved } = await ask(question);
      return { root, bytes: Buffer.from(moved.buffer, moved.byteOffset, moved.length) };
    },
    close: async () => void (await worker?.terminate()),
  };
};

const rangesOf = (transactions: readonly RawTransaction[]): Uint32Array<ArrayBuffer> => {
  const ranges = new Uint32Array(2 * transactions.length);
  for (const [index, { start, end }] of transactions.entries()) {
    ranges[2 * index] = start;
    ranges[2 * index + 1] = end;
  }
  return ranges;
};
