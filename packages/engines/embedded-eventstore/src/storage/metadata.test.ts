import { TOMBSTONE } from '../events.ts';
import {
  firstReadableRevision,
  isSoftDeleted,
  retentionOf,
  SOFT_DELETE_METADATA,
  undeleteMetadata,
} from './metadata.ts';

const of = (json: string, stream = 's') => retentionOf(stream, Buffer.from(json));

test.each([
  ['{"$maxCount":5,"$maxAge":60,"$tb":3}', { maxCount: 5n, maxAgeSeconds: 60, truncateBefore: 3n }],
  ['{"$maxCount":0,"$maxAge":-1,"$tb":-2}', {}],
  ['{"$tb":0,"owner":"me"}', { truncateBefore: 0n }],
  ['{"$maxCount":"5","$tb":3}', {}],
  ['{"$maxCount":1.5}', {}],
  ['[1]', {}],
  ['no json', {}],
  ['', {}],
])('reads the retention of %s', (json, expected) => expect(of(json)).toEqual(expected));

test('a stream without metadata keeps every event, a metastream its last one', () => {
  expect(retentionOf('s', null)).toEqual({});
  expect(retentionOf('$$s', null)).toEqual({ maxCount: 1n });
});

test('a soft delete differs from a truncation and can be undone', () => {
  expect(of(SOFT_DELETE_METADATA.toString())).toEqual({ truncateBefore: TOMBSTONE });
  expect(isSoftDeleted(of(SOFT_DELETE_METADATA.toString()))).toBe(true);
  expect(isSoftDeleted(of('{"$tb":9007199254740991}'))).toBe(false);
  expect(undeleteMetadata(Buffer.from('{"$tb":9223372036854775807,"owner":"me"}'), 7n)!.toString()).toBe(
    '{"$tb":7,"owner":"me"}',
  );
  expect(undeleteMetadata(Buffer.from('no json'), 7n)).toBeNull();
});

test('the stricter of $maxCount and $tb applies', () => {
  expect(firstReadableRevision({}, 9n)).toBe(0n);
  expect(firstReadableRevision({ maxCount: 3n }, 9n)).toBe(7n);
  expect(firstReadableRevision({ maxCount: 30n }, 9n)).toBe(0n);
  expect(firstReadableRevision({ maxCount: 3n, truncateBefore: 8n }, 9n)).toBe(8n);
});
