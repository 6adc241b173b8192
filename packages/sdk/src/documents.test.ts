import { readFileSync } from 'node:fs';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const { version } = JSON.parse(read('packages/sdk/package.json')) as { version: string };

test.each(['packages/sdk/README.md', 'docs/merchants.md'])('%s installs the current version', (document) => {
  const files = [...read(document).matchAll(/cpg-sdk-[\w.-]+\.tgz/g)].map(([file]) => file);
  expect([...new Set(files)]).toEqual([`cpg-sdk-${version}.tgz`]);
});

test('the package has the license of the project', () => {
  expect(read('packages/sdk/LICENSE')).toBe(read('LICENSE'));
});

const CODES = [...read('packages/sdk/README.md').matchAll(/error\.code === '(\w+)'/g)].map(([, code]) => code!);

test.each(CODES)('the error code %s of the examples exists', (code) => {
  expect(read('packages/sdk/src/generated/methods.ts')).toContain(`| '${code}'`);
});
