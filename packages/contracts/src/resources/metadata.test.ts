import fc from 'fast-check';
import { METADATA_MAX_BYTES, MetadataDto } from './metadata.ts';

describe('metadata', () => {
  const filled = (bytes: number) => ({ a: 'x'.repeat(bytes - '{"a":""}'.length) });

  test('accepts exactly 16 KiB and refuses one byte more', () => {
    expect(MetadataDto.safeParse(filled(METADATA_MAX_BYTES)).success).toBe(true);
    expect(MetadataDto.safeParse(filled(METADATA_MAX_BYTES + 1)).success).toBe(false);
  });

  test('has at most 16,384 bytes', () => expect(METADATA_MAX_BYTES).toBe(16_384));

  test('counts bytes, not characters', () => {
    const half = { a: 'é'.repeat(METADATA_MAX_BYTES / 2) };
    expect(JSON.stringify(half).length).toBeLessThan(METADATA_MAX_BYTES);
    expect(MetadataDto.safeParse(half).success).toBe(false);
  });

  test('accepts any JSON object and returns it unchanged', () => {
    fc.assert(
      fc.property(
        // The HTTP body parser refuses this name at any depth.
        fc.dictionary(fc.string(), fc.jsonValue()).filter((value) => !JSON.stringify(value).includes('"__proto__"')),
        (value) => {
          fc.pre(Buffer.byteLength(JSON.stringify(value)) <= METADATA_MAX_BYTES);
          expect(JSON.stringify(MetadataDto.parse(value))).toBe(JSON.stringify(value));
        },
      ),
    );
  });

  test.each([null, 'text', 1, [], undefined])('refuses %p', (value) => {
    expect(MetadataDto.safeParse(value).success).toBe(false);
  });
});
