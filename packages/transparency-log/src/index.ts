export { type Checkpoint, checkpointText } from './checkpoint.ts';
export { leafHash, rootOf } from './merkle.ts';
export { newSigningKey, noteSigner, type NoteSigner, openNote } from './note.ts';
export {
  appendLeaves,
  parseTileName,
  type ReadTile,
  subtreesIn,
  type Tile,
  type TileName,
  tileSlice,
} from './tiles.ts';
