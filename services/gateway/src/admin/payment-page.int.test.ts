import { writeFile } from 'node:fs/promises';
import sharp from 'sharp';
import { startAdmin, type TestAdmin } from '../testing/jest-admin.ts';

let admin: TestAdmin;
beforeAll(async () => {
  admin = await startAdmin();
});
afterAll(() => admin.close());
beforeEach(() => admin.reset());

test('sets and shows the payment page of a merchant', async () => {
  const { id } = await admin.createMerchant();
  expect(JSON.parse(await admin.run('payment-page', 'show', id))).toEqual({
    display_name: 'La Fonda',
    frame_ancestors: [],
  });
  const file = await admin.fileWith({ display_name: 'La Fonda Centro', accent_color: '#0A7D5C' });
  const logo = `${file}.png`;
  await writeFile(
    logo,
    await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
      .png()
      .toBuffer(),
  );
  const set = JSON.parse(await admin.run('payment-page', 'set', id, '--file', file, '--logo', logo));
  expect(set).toEqual({
    display_name: 'La Fonda Centro',
    accent_color: '#0a7d5c',
    logo_url: expect.stringMatching(/^\/pay\/logos\/[\da-f]{64}\.png$/),
    frame_ancestors: [],
    updated_at: '2026-01-31T12:00:00.000Z',
  });
  expect(JSON.parse(await admin.run('payment-page', 'show', id))).toEqual(set);
});

test.each<[object, RegExp]>([
  [{ accent_color: 'green' }, /accent_color: must be a color like/],
  [{ logo: 'aGVsbG8=' }, /logo: must be a PNG, JPEG or WebP image/],
  [{ frame_ancestors: ['http://localhost:3000'] }, /frame_ancestors.0: must be an https:\/\/ URL/],
  [{ colour: 'red' }, /colour: is not a known field/],
])('refuses %j and names the field', async (settings, message) => {
  const { id } = await admin.createMerchant();
  await expect(admin.run('payment-page', 'set', id, '--file', await admin.fileWith(settings))).rejects.toThrow(message);
});

test('says when there is no such merchant', async () => {
  await expect(admin.run('payment-page', 'show', 'mer_1')).rejects.toThrow('there is no merchant mer_1');
  const file = await admin.fileWith({});
  await expect(admin.run('payment-page', 'set', 'mer_1', '--file', file)).rejects.toThrow('there is no merchant mer_1');
});
