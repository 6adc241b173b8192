import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const CHECKOUT = new URL('../../../../', import.meta.url).pathname;
const PROGRAM = new URL('../dist/main.js', import.meta.url).pathname;

const FILES = {
  'package.json': '{ "type": "module" }',
  'tsconfig.base.json':
    '{ "compilerOptions": { "target": "ES2022", "module": "NodeNext", "strict": true, "types": [] } }',
  'jest.config.js': `export default {
    projects: [{
      displayName: 'unit',
      transform: { '^.+\\\\.ts$': ['@swc/jest', { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } }] },
      extensionsToTreatAsEsm: ['.ts'],
    }],
  };`,
  'packages/logic/src/logic.ts': `
    export const either = (a: boolean, b: boolean): boolean => a || b;
    export const both = (a: boolean, b: boolean): boolean => a && b;
    export const one = (a: boolean, b: boolean): boolean => a !== b;
  `,
  // Nothing tests the last function, and the test of the second one holds for `a || b` too.
  'packages/logic/src/logic.test.ts': `
    import { both, either } from './logic.ts';
    test('one of two is enough', () => expect(either(true, false)).toBe(true));
    test('both are', () => expect(both(true, true)).toBe(true));
  `,
};

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'cpg-mutation-test-'));
  for (const [file, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, '.gitignore'), 'node_modules');
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a change that a test notices is killed, and one that none notices or reaches survives', () => {
  const args = [PROGRAM, 'packages/logic/src', '--seed', '1'];
  const printed = execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });

  expect(printed).toMatch(/packages\/logic\/src +3 +33 % +0 +1\n/);
  expect(printed.match(/logic\.ts:.*/g)).toEqual([
    'logic.ts:3  connective  && -> ||',
    'logic.ts:4  comparison  !== -> ===  (reached by no test)',
  ]);
});
