import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptyDataFolder, lockDataFolder, openDataFolder } from './folder.ts';
import { loadSecrets } from './secrets.ts';
import { explainWriteErrors } from './write-file.ts';

let base: string;
beforeEach(() => (base = mkdtempSync(join(tmpdir(), 'data folder '))));
afterEach(() => rmSync(base, { recursive: true, force: true }));

test('creates a missing folder and opens it again', () => {
  const folder = openDataFolder(join(base, 'a', 'b'));
  expect(openDataFolder(folder)).toBe(folder);
});

test('rejects a folder with other files and does not change it', async () => {
  writeFileSync(join(base, 'thesis.txt'), 'words');
  expect(() => openDataFolder(base)).toThrow(/is not empty and is not a data folder of this program: set DATA_DIR/);
  await expect(emptyDataFolder(base)).rejects.toThrow(/nothing was deleted/);
  expect(readdirSync(base)).toEqual(['thesis.txt']);
});

test.each([
  ['1', 'has data format 1, of a version before 0.2.0, but this version needs format 2'],
  ['3', 'has data format 3, but this version needs format 2'],
])('rejects data of format %s, until it is emptied', async (format, reason) => {
  writeFileSync(join(base, 'format'), `${format}\n`);
  const refusal = `${base} ${reason}: set DATA_DIR to another folder, or delete the data with "npm run reset"`;
  expect(() => openDataFolder(base)).toThrow(refusal);
  await emptyDataFolder(base);
  expect(openDataFolder(base)).toBe(base);
});

test('rejects a path through a file', () => {
  writeFileSync(join(base, 'file'), '');
  expect(() => openDataFolder(join(base, 'file', 'data'))).toThrow(/a part of the path is a file: set DATA_DIR/);
});

const onLinux = process.platform === 'linux' ? test : test.skip;
onLinux('rejects a path where no folder can be created', () =>
  expect(() => openDataFolder('/proc/data')).toThrow(/it cannot be created: set DATA_DIR/),
);

test.each([
  ['ENOSPC', 'there is no space left: free some space, or set DATA_DIR to another folder'],
  ['EROFS', 'it is read-only: set DATA_DIR to another folder'],
  ['EACCES', 'this user may not write to it: set DATA_DIR to another folder'],
])('explains the system error %s', (code, explanation) => {
  const write = () => {
    throw Object.assign(new Error(code), { code });
  };
  expect(() => explainWriteErrors('/data', write)).toThrow(`the data folder /data cannot be used, ${explanation}`);
});

/** Runs as a user without rights: file permissions do not restrict root. */
const withoutRoot = (work: () => void): void => {
  if (process.geteuid!() !== 0) return work();
  process.seteuid!(NOBODY);
  try {
    work();
  } finally {
    process.seteuid!(0);
  }
};
const NOBODY = 65_534;

test('rejects a folder that this user may not write to', () => {
  chmodSync(base, 0o500);
  withoutRoot(() =>
    expect(() => openDataFolder(join(base, 'data'))).toThrow(/this user may not write to it: set DATA_DIR/),
  );
});

test('creates secrets once, readable only by their owner', () => {
  const folder = openDataFolder(base);
  const secrets = loadSecrets(folder);
  expect(loadSecrets(folder)).toEqual(secrets);
  expect(new Set(Object.values(secrets)).size).toBe(5);
  expect(statSync(join(folder, 'secrets.json')).mode & 0o777).toBe(0o600);
});

test('does not replace lost secrets while there is data that needs them', () => {
  const folder = openDataFolder(base);
  mkdirSync(join(folder, 'postgres'));
  expect(() => loadSecrets(folder)).toThrow(/secrets.json is missing/);
});

test('neither opens nor empties a folder in use', async () => {
  const folder = openDataFolder(base);
  const unlock = lockDataFolder(folder);
  expect(() => lockDataFolder(folder)).toThrow(/another stack is using .* \(process \d+\)/);
  await expect(emptyDataFolder(folder)).rejects.toThrow(/stop it first/);
  unlock();
  lockDataFolder(folder)();
});

test('while the folder is locked, launcher.pid has the process id alone', () => {
  const folder = openDataFolder(base);
  const unlock = lockDataFolder(folder);
  expect(readFileSync(join(folder, 'launcher.pid'), 'utf8')).toBe(`${process.pid}\n`);
  unlock();
  expect(existsSync(join(folder, 'launcher.pid'))).toBe(false);
});

test('ignores the lock of an ended process, even if its process id is in use again', () => {
  const folder = openDataFolder(base);
  writeFileSync(join(folder, 'launcher.lock'), `${process.pid} long ago`);
  writeFileSync(join(folder, 'launcher.pid'), `${process.pid}\n`);
  lockDataFolder(folder)();
  expect(readdirSync(folder)).toEqual(['format']);
});

test('emptying deletes everything, and can be repeated', async () => {
  const folder = openDataFolder(base);
  loadSecrets(folder);
  mkdirSync(join(folder, 'postgres'));
  await emptyDataFolder(folder);
  expect(readdirSync(folder)).toEqual([]);
  await emptyDataFolder(folder);
  await emptyDataFolder(join(base, 'never made'));
});
