// The thread of merkle-root.ts. Plain JavaScript, because a thread loads it as it is, also in tests.
import { Buffer } from 'node:buffer';
import { parentPort } from 'node:worker_threads';
import {
  begin,
  block,
  BLOCK_WORDS,
  compress,
  endAfterOneBlock,
  hashAgain,
  LANES,
  state,
  STATE_WORDS,
} from './sha256-lanes.mjs';

const BLOCK_BYTES = 64;
/** A message ends with a byte and its length. */
const PADDING_BYTES = 9;

/** @type {(words: Uint32Array, at: number) => number} */
const wordAt = (words, at) => /** @type {number} */ (words[at]);

/**
 * Copies the hash of a lane to a place among the others.
 * @type {(ids: Uint32Array, lane: number, place: number) => void}
 */
const takeHash = (ids, lane, place) => {
  for (let word = 0; word < STATE_WORDS; word += 1)
    ids[place * STATE_WORDS + word] = wordAt(state, word * LANES + lane);
};

/** @type {(view: DataView, at: number, lane: number) => void} */
const writeWords = (view, at, lane) => {
  for (let word = 0; word < BLOCK_WORDS; word += 1) block[word * LANES + lane] = view.getUint32(at + word * 4);
};

const lastBytes = new Uint8Array(BLOCK_BYTES);
const lastView = new DataView(lastBytes.buffer);

/**
 * Writes the end of a message with its padding into a lane.
 * @type {(message: Uint8Array, at: number, lane: number) => void}
 */
const writeEnd = (message, at, lane) => {
  const left = message.length - at;
  for (let index = 0; index < left; index += 1) lastBytes[index] = /** @type {number} */ (message[at + index]);
  lastBytes.fill(0, Math.max(left, 0));
  if (left >= 0) lastBytes[left] = 0x80;
  if (left <= BLOCK_BYTES - PADDING_BYTES) lastView.setUint32(BLOCK_BYTES - 4, message.length * 8);
  writeWords(lastView, 0, lane);
};

/**
 * The hashes of the transactions as words, with room to repeat the last one.
 * @type {(question: import('./merkle-root.ts').MerkleQuestion) => Uint32Array}
 */
const idsOf = ({ bytes, ranges }) => {
  const view = new DataView(bytes.buffer);
  const count = ranges.length / 2;
  const ids = new Uint32Array((count + 1) * STATE_WORDS);
  /** @type {Map<number, number[]>} */
  const placesByBlocks = new Map();
  for (let place = 0; place < count; place += 1) {
    const bytesOf = wordAt(ranges, 2 * place + 1) - wordAt(ranges, 2 * place);
    const blocks = Math.ceil((bytesOf + PADDING_BYTES) / BLOCK_BYTES);
    const places = placesByBlocks.get(blocks);
    if (places) places.push(place);
    else placesByBlocks.set(blocks, [place]);
  }
  for (const [blocks, places] of placesByBlocks)
    for (let first = 0; first < places.length; first += LANES) {
      const some = places.slice(first, first + LANES);
      const messages = some.map((place) => bytes.subarray(ranges[2 * place], ranges[2 * place + 1]));
      begin();
      for (let index = 0; index < blocks; index += 1) {
        const at = index * BLOCK_BYTES;
        for (let lane = 0; lane < messages.length; lane += 1) {
          const message = /** @type {Uint8Array} */ (messages[lane]);
          if (at + BLOCK_BYTES <= message.length) writeWords(view, message.byteOffset + at, lane);
          else writeEnd(message, at, lane);
        }
        compress();
      }
      hashAgain();
      for (const [lane, place] of some.entries()) takeHash(ids, lane, place);
    }
  return ids;
};

/** @type {(ids: Uint32Array, left: number) => boolean} */
const isRepeated = (ids, left) => {
  for (let word = 0; word < STATE_WORDS; word += 1)
    if (ids[left * STATE_WORDS + word] !== ids[(left + 1) * STATE_WORDS + word]) return false;
  return true;
};

/**
 * Leaves the Merkle root of the first `count` hashes at the start. False for a repeated end, which
 * gives the same root (CVE-2012-2459).
 * @type {(ids: Uint32Array, count: number) => boolean}
 */
const foldToRoot = (ids, count) => {
  for (let width = count; width > 1; width = (width + 1) >> 1) {
    for (let left = 0; left + 1 < width; left += 2) if (isRepeated(ids, left)) return false;
    ids.copyWithin(width * STATE_WORDS, (width - 1) * STATE_WORDS, width * STATE_WORDS);
    const pairs = (width + 1) >> 1;
    for (let first = 0; first < pairs; first += LANES) {
      const lanes = Math.min(LANES, pairs - first);
      for (let lane = 0; lane < lanes; lane += 1)
        for (let word = 0; word < BLOCK_WORDS; word += 1)
          block[word * LANES + lane] = wordAt(ids, (first + lane) * BLOCK_WORDS + word);
      begin();
      compress();
      endAfterOneBlock();
      hashAgain();
      for (let lane = 0; lane < lanes; lane += 1) takeHash(ids, lane, first + lane);
    }
  }
  return true;
};

/** @type {(ids: Uint32Array) => Uint8Array} */
const firstHash = (ids) => {
  const hash = Buffer.alloc(STATE_WORDS * 4);
  for (let word = 0; word < STATE_WORDS; word += 1) hash.writeUInt32BE(wordAt(ids, word), word * 4);
  return Uint8Array.from(hash);
};

parentPort?.on('message', (/** @type {import('./merkle-root.ts').MerkleQuestion} */ question) => {
  const ids = idsOf(question);
  const root = foldToRoot(ids, question.ranges.length / 2) ? firstHash(ids) : null;
  parentPort?.postMessage({ root, bytes: question.bytes }, [question.bytes.buffer]);
});
