import { type ReadSubtree, rootOfComplete } from './merkle.ts';

// Tiles of a Merkle tree, by C2SP tlog-tiles: https://c2sp.org/tlog-tiles. A tile of level L has hashes of the tree at
// height 8 * L, 256 if it is full.

const HEIGHT = 8;
const WIDTH = 2 ** HEIGHT;
const HASH_BYTES = 32;

/** `hashes`: of 32 bytes each, 1 to 256 of them. */
export interface Tile {
  readonly level: number;
  readonly index: number;
  readonly hashes: Buffer;
}

/** Reads the hashes of a tile; none of a tile that has none yet. */
export type ReadTile = (level: number, index: number) => Promise<Buffer>;

/** The tiles that change when leaves are appended to a tree of `size` leaves. */
export const appendLeaves = async (read: ReadTile, size: number, leaves: readonly Buffer[]): Promise<Tile[]> => {
  const changed: Tile[] = [];
  let added = leaves;
  let first = size;
  for (let level = 0; added.length > 0; level += 1) {
    const tiles = await extendLevel(read, level, first, added);
    changed.push(...tiles);
    first = Math.floor(first / WIDTH);
    added = tiles.filter(isFull).map(({ hashes }) => rootOfComplete(hashesIn(hashes)));
  }
  return changed;
};

const isFull = ({ hashes }: Tile): boolean => hashes.length === WIDTH * HASH_BYTES;

/** The tiles of a level that get hashes. `first`: the place of the first one on its level. */
const extendLevel = async (read: ReadTile, level: number, first: number, added: readonly Buffer[]): Promise<Tile[]> => {
  const tiles: Tile[] = [];
  let next = 0;
  while (next < added.length) {
    const index = Math.floor((first + next) / WIDTH);
    const before = (first + next) % WIDTH;
    const kept = before === 0 ? Buffer.alloc(0) : (await read(level, index)).subarray(0, before * HASH_BYTES);
    if (kept.length < before * HASH_BYTES) throw new Error(`tile ${index} of level ${level} lacks hashes`);
    const taken = added.slice(next, next + WIDTH - before);
    tiles.push({ level, index, hashes: Buffer.concat([kept, ...taken]) });
    next += taken.length;
  }
  return tiles;
};

/** The subtrees of a tree that is kept in tiles. */
export const subtreesIn =
  (read: ReadTile): ReadSubtree =>
  async (height, index) => {
    const level = Math.floor(height / HEIGHT);
    const count = 2 ** (height % HEIGHT);
    const first = index * count;
    const hashes = hashesIn(await read(level, Math.floor(first / WIDTH)));
    const found = hashes.slice(first % WIDTH, (first % WIDTH) + count);
    if (found.length < count) throw new Error(`the tiles lack hashes of level ${level} from ${first} on`);
    return rootOfComplete(found);
  };

const hashesIn = (tile: Buffer): Buffer[] =>
  Array.from({ length: tile.length / HASH_BYTES }, (_, n) => tile.subarray(n * HASH_BYTES, (n + 1) * HASH_BYTES));

/** The first `width` hashes of a tile, as `<level>/<index>` or `<level>/<index>.p/<width>` names them. */
export interface TileName extends Pick<Tile, 'level' | 'index'> {
  /** 256 for a full tile. */
  readonly width: number;
}

const NAME = /^(?<level>0|[1-9]\d?)\/(?<index>(?:x\d{3}\/)*\d{3})(?:\.p\/(?<width>[1-9]\d{0,2}))?$/;

/** Null if no tile has this name. Thousands of an index are folders: 1234067 is `x001/x234/067`. */
export const parseTileName = (text: string): TileName | null => {
  const { level, index, width } = NAME.exec(text)?.groups ?? {};
  if (level === undefined || index === undefined) return null;
  const name = {
    level: Number(level),
    index: Number(index.replace(/[x/]/g, '')),
    width: width === undefined ? WIDTH : Number(width),
  };
  const isCanonical = name.width <= WIDTH - (width === undefined ? 0 : 1) && tileName(name) === text;
  return name.level < 64 && Number.isSafeInteger(name.index) && isCanonical ? name : null;
};

const tileName = ({ level, index, width }: TileName): string => {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  const groups = padded.match(/.{3}/g)!;
  const path = [...groups.slice(0, -1).map((folder) => `x${folder}`), groups.at(-1)].join('/');
  return `${level}/${path}${width === WIDTH ? '' : `.p/${width}`}`;
};

/** The hashes that a name names; null while the tile lacks one of them. */
export const tileSlice = (hashes: Buffer, { width }: TileName): Buffer | null =>
  hashes.length < width * HASH_BYTES ? null : hashes.subarray(0, width * HASH_BYTES);
