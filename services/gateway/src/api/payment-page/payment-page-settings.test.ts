import { randomBytes } from 'node:crypto';
import sharp from 'sharp';
import { encodeLogo, MAX_PNG_BYTES } from './payment-page-settings.ts';

const noise = (side: number) =>
  sharp(randomBytes(side * side * 4), { raw: { width: side, height: side, channels: 4 } });
const plain = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: '#0a7d5c' } });

test.each<[string, Promise<Buffer>]>([
  ['PNG', noise(600).png().toBuffer()],
  ['JPEG', noise(600).jpeg().toBuffer()],
  ['WebP', noise(600).webp().toBuffer()],
])('stores a %s image as a small PNG', async (_, image) => {
  const { png, hash } = await encodeLogo(await image);
  expect(png.length).toBeLessThanOrEqual(MAX_PNG_BYTES);
  expect(hash).toMatch(/^[\da-f]{64}$/);
  expect(await sharp(png).metadata()).toMatchObject({ format: 'png' });
});

test('keeps the proportions, and does not enlarge', async () => {
  expect(await sharp((await encodeLogo(await plain(768, 192).png().toBuffer())).png).metadata()).toMatchObject({
    width: 384,
    height: 96,
  });
  expect(await sharp((await encodeLogo(await plain(40, 20).png().toBuffer())).png).metadata()).toMatchObject({
    width: 40,
    height: 20,
  });
});

test('stores the pixels alone: no metadata, and nothing after the image', async () => {
  const image = await plain(40, 20)
    .withExif({ IFD0: { Copyright: 'secret place' } })
    .jpeg()
    .toBuffer();
  const { png } = await encodeLogo(Buffer.concat([image, Buffer.from('<script>alert(1)</script>')]));
  expect(png.includes('secret place')).toBe(false);
  expect(png.includes('script')).toBe(false);
});

test('the same image has the same hash', async () => {
  const image = await plain(40, 20).png().toBuffer();
  expect((await encodeLogo(image)).hash).toBe((await encodeLogo(image)).hash);
});

const refusal = { code: 'invalid_request', details: [expect.objectContaining({ path: 'logo' })] };

test.each<[string, () => Promise<Buffer>]>([
  ['an SVG', async () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')],
  ['a GIF', () => plain(9, 9).gif().toBuffer()],
  ['a TIFF', () => plain(9, 9).tiff().toBuffer()],
  ['text', async () => Buffer.from('a logo')],
  ['a truncated image', async () => (await noise(64).png().toBuffer()).subarray(0, 4_000)],
  ['too many pixels', () => plain(4_100, 4_100).png().toBuffer()],
  ['a side that is too long', () => plain(8_200, 8).png().toBuffer()],
])('refuses %s', async (_, image) => {
  await expect(encodeLogo(await image())).rejects.toMatchObject(refusal);
});
