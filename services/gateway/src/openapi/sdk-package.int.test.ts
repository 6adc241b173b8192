import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway } from '../testing/jest-gateway.ts';
import { readSdkPackage } from './sdk-package.ts';

const sdk = { file: 'cpg-sdk-0.1.0.tgz', content: Buffer.from([0x1f, 0x8b, 0x00, 0xff]) };

test.each([
  ['sandbox', 200],
  ['production', 404],
] as const)('the package of the client in a %s is answered with %i', async (environment, status) => {
  const { app, close } = await startGateway({ environment, sdk });
  try {
    const answer = await app.inject({ url: `/sdk/${sdk.file}`, headers: { 'accept-encoding': 'gzip' } });
    expect(answer.statusCode).toBe(status);
    const old = await app.inject({ url: '/sdk/cpg-sdk-0.0.1.tgz' });
    expect([old.statusCode, old.body.includes(`did you mean /sdk/${sdk.file}?`)]).toEqual([404, status === 200]);
    if (status !== 200) return;
    expect(answer.rawPayload).toEqual(sdk.content);
    expect(answer.headers).toMatchObject({ 'content-type': 'application/gzip', 'cache-control': 'no-cache' });
    expect(answer.headers['content-encoding']).toBeUndefined();
  } finally {
    await close();
  }
});

test('a folder without a package is an error that says what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'cpg-sdk-'));
  try {
    expect(() => readSdkPackage(folder)).toThrow('run `pnpm build`');
    writeFileSync(join(folder, sdk.file), sdk.content);
    expect(readSdkPackage(folder)).toEqual(sdk);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
