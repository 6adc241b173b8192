import { shardOf } from './shards.ts';

// Checkpoints are stored by shard: another function would leave events out.
test.each([
  ['ord_1', 1, 0],
  ['ord_1', 2, 1],
  ['ord_1', 3, 0],
  ['ord_2', 2, 1],
  ['ord_2', 3, 2],
  ['pay_1', 3, 1],
])('the shard of %s among %i stays %i', (key, shards, shard) => expect(shardOf(key, shards)).toBe(shard));
