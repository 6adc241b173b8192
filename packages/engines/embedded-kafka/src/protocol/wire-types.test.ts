import { MalformedRequest, RequestReader } from './request-reader.ts';
import { ResponseWriter } from './response-writer.ts';

const written = (write: (writer: ResponseWriter) => void, flexible = false): Buffer => {
  const writer = new ResponseWriter();
  writer.flexible = flexible;
  write(writer);
  return Buffer.concat(writer.toBuffers());
};
const readerOf = (bytes: Buffer, flexible = false): RequestReader =>
  Object.assign(new RequestReader(bytes), { flexible });

test.each([false, true])('the reader reads what the writer wrote (flexible: %s)', (flexible) => {
  const long = 'é'.repeat(700);
  const bytes = written((w) => {
    w.int8(-1).int16(-2).int32(-3).int64(-4).boolean(true).string('kafka').string(null).string(long);
    w.bytes(Buffer.from([1, 2]))
      .bytes(null)
      .array([1, 2, 3], w.int32)
      .array(null, w.int32)
      .taggedFields();
  }, flexible);
  const r = readerOf(bytes, flexible);
  expect([r.int8(), r.int16(), r.int32(), r.int64(), r.boolean()]).toEqual([-1, -2, -3, -4, true]);
  expect([r.string(), r.nullableString(), r.string()]).toEqual(['kafka', null, long]);
  expect([r.bytes(), r.nullableBytes()]).toEqual([Buffer.from([1, 2]), null]);
  expect([r.array(r.int32), r.nullableArray(r.int32)]).toEqual([[1, 2, 3], null]);
  r.skipTaggedFields();
  expect(r.remaining).toBe(0);
});

// Source: KIP-482, and the protocol guide's definitions of STRING, COMPACT_STRING and ARRAY.
test('lengths follow the protocol', () => {
  expect(written((w) => w.string('ab'))).toEqual(Buffer.from([0, 2, 97, 98]));
  expect(written((w) => w.string('ab'), true)).toEqual(Buffer.from([3, 97, 98]));
  expect(written((w) => w.string(null))).toEqual(Buffer.from([0xff, 0xff]));
  expect(written((w) => w.string(null), true)).toEqual(Buffer.from([0]));
  expect(written((w) => w.string('x'.repeat(200)), true).subarray(0, 2)).toEqual(Buffer.from([0xc9, 0x01]));
  expect(written((w) => w.array([], w.int8))).toEqual(Buffer.from([0, 0, 0, 0]));
  expect(written((w) => w.array([], w.int8).taggedFields(), true)).toEqual(Buffer.from([1, 0]));
});

test('several pieces of any size are written as one byte string', () => {
  const pieces = [Buffer.alloc(5_000, 1), Buffer.alloc(10, 2), Buffer.alloc(0), Buffer.alloc(3_000, 3)];
  const r = readerOf(written((w) => w.int8(9).joinedBytes(pieces).int8(8)));
  expect([r.int8(), r.bytes(), r.int8()]).toEqual([9, Buffer.concat(pieces), 8]);
});

test('unknown tagged fields are skipped', () => {
  const r = readerOf(Buffer.from([2, 0, 3, 1, 2, 3, 7, 0, 42]), true);
  r.skipTaggedFields();
  expect(r.int8()).toBe(42);
});

test('integers beyond the safe integers are clamped', () => {
  const largest = Buffer.from('7fffffffffffffff', 'hex');
  const smallest = Buffer.from('8000000000000000', 'hex');
  expect(readerOf(largest).int64()).toBe(Number.MAX_SAFE_INTEGER);
  expect(readerOf(smallest).int64()).toBe(-Number.MAX_SAFE_INTEGER);
});

test.each<[string, number[], boolean, (r: RequestReader) => unknown]>([
  ['an incomplete number', [0, 0, 0], false, (r) => r.int32()],
  ['a string longer than the request', [0, 9, 97], false, (r) => r.string()],
  ['a string of negative length', [0xff, 0xfe], false, (r) => r.string()],
  ['null instead of a string', [0xff, 0xff], false, (r) => r.string()],
  ['an array longer than the request', [0x7f, 0xff, 0xff, 0xff, 1], false, (r) => r.array(r.int8)],
  ['an array of negative length', [0xff, 0xff, 0xff, 0xfe], false, (r) => r.array(r.int8)],
  ['a length of more than five bytes', [0xff, 0xff, 0xff, 0xff, 0xff, 1], true, (r) => r.string()],
  ['a tag longer than the request', [1, 0, 9, 1], true, (r) => r.skipTaggedFields()],
])('%s is malformed', (_, bytes, flexible, read) => {
  expect(() => read(readerOf(Buffer.from(bytes), flexible))).toThrow(MalformedRequest);
});
