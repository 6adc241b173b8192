import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyDataFolder, openDataFolder } from './folder.ts';
import { lockFolder } from './lock.ts';
import { secretsOf } from './secrets.ts';
import { inDataFolder } from './write.ts';

let base: string;
beforeEach(() => (base = mkdtempSync(join(tmpdir(), 'data folder '))));
afterEach(() => rmSync(base, { recursive: true, force: true }));

test('a missing folder is made, and opens again', () => {
  const folder = openDataFolder(join(base, 'a', 'b'));
  expect(openDataFolder(folder)).toBe(folder);
});

test('it refuses a folder that holds something else, and leaves it alone', async () => {
  writeFileSync(join(base, 'thesis.txt'), 'words');
  expect(() => openDataFolder(base)).toThrow(/is not empty and no data folder of ours: set DATA_DIR/);
  await expect(emptyDataFolder(base)).rejects.toThrow(/nothing was removed/);
  expect(readdirSync(base)).toEqual(['thesis.txt']);
});

test('it refuses data of another format', () => {
  writeFileSync(join(base, 'format'), '2\n');
  expect(() => openDataFolder(base)).toThrow(/has data format 2, this version has 1/);
});

test('it refuses a path through a file', () => {
  writeFileSync(join(base, 'file'), '');
  expect(() => openDataFolder(join(base, 'file', 'data'))).toThrow(/a part of the path is a file: set DATA_DIR/);
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('it refuses a place where no folder can be made', () =>
  expect(() => openDataFolder('/proc/data')).toThrow(/it cannot be made there: set DATA_DIR/),
);

test.each([
  ['ENOSPC', 'there is no space left: make room there, or set DATA_DIR to another'],
  ['EROFS', 'it is read-only: set DATA_DIR to another'],
  ['EACCES', 'this account may not write there: set DATA_DIR to another'],
])('%s of the system is told in words', (code, told) => {
  const write = () => {
    throw Object.assign(new Error(code), { code });
  };
  expect(() => inDataFolder('/data', write)).toThrow(`the data folder /data cannot be used, ${told}`);
});

// Nothing is closed to root.
const asOneOfMany = process.getuid?.() === 0 ? test.skip : test;
asOneOfMany('it refuses a folder that this account may not write', () => {
  chmodSync(base, 0o500);
  expect(() => openDataFolder(join(base, 'data'))).toThrow(/this account may not write there: set DATA_DIR/);
});

test('secrets are made once and only their owner reads them', () => {
  const folder = openDataFolder(base);
  const secrets = secretsOf(folder);
  expect(secretsOf(folder)).toEqual(secrets);
  expect(new Set(Object.values(secrets)).size).toBe(4);
  expect(statSync(join(folder, 'secrets.json')).mode & 0o777).toBe(0o600);
});

test('lost secrets are not replaced while data stands that needs them', () => {
  const folder = openDataFolder(base);
  mkdirSync(join(folder, 'postgres'));
  expect(() => secretsOf(folder)).toThrow(/secrets.json is gone/);
});

test('a folder in use is neither taken nor emptied', async () => {
  const folder = openDataFolder(base);
  const unlock = lockFolder(folder);
  expect(() => lockFolder(folder)).toThrow(/a stack runs on .* already \(process \d+\)/);
  await expect(emptyDataFolder(folder)).rejects.toThrow(/stop it first/);
  unlock();
  lockFolder(folder)();
});

test('a lock of a process that is gone counts for nothing, whoever has its id now', () => {
  const folder = openDataFolder(base);
  writeFileSync(join(folder, 'launcher.pid'), `${process.pid} long ago`);
  lockFolder(folder)();
  expect(existsSync(join(folder, 'launcher.pid'))).toBe(false);
});

test('emptying removes everything, and does so again', async () => {
  const folder = openDataFolder(base);
  secretsOf(folder);
  mkdirSync(join(folder, 'postgres'));
  await emptyDataFolder(folder);
  expect(readdirSync(folder)).toEqual([]);
  await emptyDataFolder(folder);
  await emptyDataFolder(join(base, 'never made'));
});
