import { runShellExamples, shellExamples } from './harness/shell-examples.ts';
import { type Stack, startStack } from './harness/stack.ts';

const DOCUMENTS = [
  'README.md',
  'docs/merchants.md',
  'docs/events.md',
  'docs/operators/run.md',
  'docs/operators/configure.md',
  'docs/operators/secrets.md',
  'docs/operators/recover.md',
  'docs/auditors.md',
];

let stack: Stack;
beforeAll(async () => void (stack = await startStack()), 120_000);
afterAll(() => stack.stop(), 30_000);

test.each(DOCUMENTS)(
  'every shell example of %s runs as it stands and prints what it promises',
  async (document) => expect(await runShellExamples(document, stack)).toBeNull(),
  180_000,
);

test('an example is left out for a reason, or where its program is missing', () => {
  const markdown = [
    '```sh\necho one # prints one\n```',
    '<!-- not tested here: stops the stack -->\n\n```sh\nnpm stop\n```',
    '<!-- needs kcat -->\n\n```sh\nkcat\n```',
  ].join('\n\n');
  expect(shellExamples(markdown, () => false)).toEqual([{ line: 1, code: 'echo one # prints one\n', prints: ['one'] }]);
  expect(shellExamples(markdown, () => true).map(({ code }) => code)).toEqual(['echo one # prints one\n', 'kcat\n']);
});
