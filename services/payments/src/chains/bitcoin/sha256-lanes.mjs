// SHA-256 of four messages at once, in the lanes of WebAssembly's vectors: a single hash of Node.js takes longer to
// call than to calculate. Source: FIPS 180-4; WebAssembly core specification 2.0, "Binary format".
export const LANES = 4;
export const STATE_WORDS = 8;
export const BLOCK_WORDS = 16;
const ROUNDS = 64;
const VECTOR_BYTES = 16;

/** @typedef {number[]} Code */

/** @type {(value: number) => Code} */
const leb128 = (value) => (value < 128 ? [value] : [(value & 127) | 128, ...leb128(value >>> 7)]);
/** @type {(operation: number, ...operands: Code[]) => Code} */
const vector = (operation, ...operands) => [...operands.flat(), 0xfd, ...leb128(operation)];
/** @type {(count: number) => Code} */
const constant = (count) => [0x41, count];
/** @type {(local: number) => Code} */
const get = (local) => [0x20, local];
/** @type {(local: number, value: Code) => Code} */
const set = (local, value) => [...value, 0x21, local];
/** @type {(address: number) => Code} */
const load = (address) => [...constant(0), ...vector(0x00), 4, ...leb128(address)];
/** @type {(address: number, value: Code) => Code} */
const store = (address, value) => [...constant(0), ...vector(0x0b, value), 4, ...leb128(address)];
/** @type {(...values: Code[]) => Code} */
const sum = (first = [], ...others) => others.reduce((left, right) => vector(0xae, left, right), first);
/** @type {(...values: Code[]) => Code} */
const xor = (first = [], ...others) => others.reduce((left, right) => vector(0x51, left, right), first);
/** @type {(one: Code, other: Code) => Code} */
const and = (one, other) => vector(0x4e, one, other);
/** @type {(one: Code, other: Code) => Code} */
const or = (one, other) => vector(0x50, one, other);
/** @type {(value: Code, bits: number) => Code} */
const shiftRight = (value, bits) => vector(0xad, value, constant(bits));
/** @type {(value: Code, bits: number) => Code} */
const rotateRight = (value, bits) => or(shiftRight(value, bits), vector(0xab, value, constant(32 - bits)));
/** @type {(value: Code, ...bits: [number, number, number]) => Code} */
const rotations = (value, ...bits) => xor(...bits.map((count) => rotateRight(value, count)));

// Vectors in memory: the state, the block, the constants. Locals: the state, 16 words of the schedule, and one more.
const BLOCK_AT = STATE_WORDS * VECTOR_BYTES;
const CONSTANTS_AT = BLOCK_AT + BLOCK_WORDS * VECTOR_BYTES;
const TEMPORARY = STATE_WORDS + BLOCK_WORDS;

/** @type {(round: number) => number} */
const scheduled = (round) => STATE_WORDS + (round % BLOCK_WORDS);

/** @type {(round: number) => Code} */
const schedule = (round) => {
  const [early, late] = [get(scheduled(round + 1)), get(scheduled(round + 14))];
  return set(
    scheduled(round),
    sum(
      get(scheduled(round)),
      get(scheduled(round + 9)),
      xor(rotateRight(early, 7), rotateRight(early, 18), shiftRight(early, 3)),
      xor(rotateRight(late, 17), rotateRight(late, 19), shiftRight(late, 10)),
    ),
  );
};

/**
 * One round. Instead of moving the eight values, the next round names them differently.
 * @type {(round: number) => Code}
 */
const calculate = (round) => {
  const local = (/** @type {number} */ place) => (place - (round % STATE_WORDS) + STATE_WORDS) % STATE_WORDS;
  const value = (/** @type {number} */ place) => get(local(place));
  const [a, b, c, e, f, g] = [value(0), value(1), value(2), value(4), value(5), value(6)];
  const choice = xor(g, and(e, xor(f, g)));
  const majority = or(and(or(a, b), c), and(a, b));
  const added = sum(load(CONSTANTS_AT + round * VECTOR_BYTES), get(scheduled(round)));
  return [
    ...set(TEMPORARY, sum(value(7), added, rotations(e, 6, 11, 25), choice)),
    ...set(local(3), sum(value(3), get(TEMPORARY))),
    ...set(local(7), sum(get(TEMPORARY), rotations(a, 2, 13, 22), majority)),
  ];
};

/** @type {<T>(count: number, make: (index: number) => T[]) => T[]} */
const repeat = (count, make) => Array.from({ length: count }, (_, index) => make(index)).flat();

/** @type {(id: number, content: Code) => Code} */
const section = (id, content) => [id, ...leb128(content.length), ...content];

/** A module with a memory `m` of one page, and a function `f` that adds the block to the state. */
const moduleBytes = () => {
  const instructions = [
    ...repeat(STATE_WORDS, (index) => set(index, load(index * VECTOR_BYTES))),
    ...repeat(BLOCK_WORDS, (index) => set(scheduled(index), load(BLOCK_AT + index * VECTOR_BYTES))),
    ...repeat(ROUNDS, (round) => [...(round < BLOCK_WORDS ? [] : schedule(round)), ...calculate(round)]),
    ...repeat(STATE_WORDS, (index) => store(index * VECTOR_BYTES, sum(load(index * VECTOR_BYTES), get(index)))),
  ];
  const body = [1, TEMPORARY + 1, 0x7b, ...instructions, 0x0b];
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [1, 0x60, 0, 0]),
    ...section(3, [1, 0]),
    ...section(5, [1, 0, 1]),
    ...section(7, [2, 1, 'f'.charCodeAt(0), 0, 0, 1, 'm'.charCodeAt(0), 2, 0]),
    ...section(10, [1, ...leb128(body.length), ...body]),
  ]);
};

/** @type {(value: number) => number} */
const fraction = (value) => Math.floor((value - Math.floor(value)) * 2 ** 32);
const primes = Array.from({ length: 312 }, (_, number) => number).filter(
  (number) => number > 1 && !Array.from({ length: number }, (_, at) => at).some((at) => at > 1 && number % at === 0),
);
/** @type {(words: readonly number[]) => Uint32Array} */
const inAllLanes = (words) => Uint32Array.from(words.flatMap((word) => Array(LANES).fill(word)));
const INITIAL_STATE = inAllLanes(primes.slice(0, STATE_WORDS).map((prime) => fraction(Math.sqrt(prime))));
const CONSTANTS = inAllLanes(primes.map((prime) => fraction(Math.cbrt(prime))));
/** @type {(words: number, bytes: number) => Uint32Array} */
const padding = (words, bytes) => inAllLanes([0x80_00_00_00, ...Array(words - 2).fill(0), bytes * 8]);
const PADDING_OF_HASH = padding(8, 32);
const PADDING_OF_BLOCK = padding(BLOCK_WORDS, 64);

const { WebAssembly } = /** @type {any} */ (globalThis);
const module = moduleBytes();
// Some virtual processors have no vectors, like `kvm64` of QEMU.
const hasVectors = WebAssembly.validate(module);
/** @type {{ f?: () => void, m: { buffer: ArrayBuffer } }} */
const { f: compressLanes, m: memory } = hasVectors
  ? new WebAssembly.Instance(new WebAssembly.Module(module)).exports
  : { m: { buffer: new ArrayBuffer(CONSTANTS_AT) } };
if (hasVectors) new Uint32Array(memory.buffer, CONSTANTS_AT).set(CONSTANTS);

/** The hashes of the lanes: word `w` of lane `l` is at `LANES * w + l`. */
export const state = new Uint32Array(memory.buffer, 0, STATE_WORDS * LANES);
/** The next 64 bytes of the messages, in the same order, as big-endian words. */
export const block = new Uint32Array(memory.buffer, BLOCK_AT, BLOCK_WORDS * LANES);

export const begin = () => state.set(INITIAL_STATE);

/** @type {(value: number, bits: number) => number} */
const rotated = (value, bits) => (value >>> bits) | (value << (32 - bits));
/** @type {(words: Uint32Array, at: number) => number} */
const word = (words, at) => /** @type {number} */ (words[at]);

/**
 * The same as the module, for one lane.
 * @type {(lane: number) => void}
 */
const compressLane = (lane) => {
  const words = new Uint32Array(ROUNDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    const [early, late] = [word(words, round - 15), word(words, round - 2)];
    words[round] =
      round < BLOCK_WORDS
        ? word(block, round * LANES + lane)
        : word(words, round - 16) +
          word(words, round - 7) +
          (rotated(early, 7) ^ rotated(early, 18) ^ (early >>> 3)) +
          (rotated(late, 17) ^ rotated(late, 19) ^ (late >>> 10));
  }
  const hash = Uint32Array.from({ length: STATE_WORDS }, (_, index) => word(state, index * LANES + lane));
  for (let round = 0; round < ROUNDS; round += 1) {
    const [a, b, c, e, f, g] = [
      word(hash, 0),
      word(hash, 1),
      word(hash, 2),
      word(hash, 4),
      word(hash, 5),
      word(hash, 6),
    ];
    const added =
      word(hash, 7) +
      (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) +
      (g ^ (e & (f ^ g))) +
      word(CONSTANTS, round * LANES) +
      word(words, round);
    hash.copyWithin(1, 0, STATE_WORDS - 1);
    hash[4] = word(hash, 4) + added;
    hash[0] = added + (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + (((a | b) & c) | (a & b));
  }
  for (let index = 0; index < STATE_WORDS; index += 1)
    state[index * LANES + lane] = word(state, index * LANES + lane) + word(hash, index);
};

/** Adds the block to the hashes. */
export const compress =
  compressLanes ??
  (() => {
    for (let lane = 0; lane < LANES; lane += 1) compressLane(lane);
  });
/** Ends messages of 64 bytes. */
export const endAfterOneBlock = () => {
  block.set(PADDING_OF_BLOCK);
  compress();
};
/** Replaces the hashes by their hashes. */
export const hashAgain = () => {
  block.set(state);
  block.set(PADDING_OF_HASH, state.length);
  begin();
  compress();
};
