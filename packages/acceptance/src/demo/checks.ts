import { isDeepStrictEqual } from 'node:util';

/** The walk-through as it is told: every line of it that says something is checked first. */
export interface Story {
  readonly chapter: (title: string) => void;
  readonly line: (text: string) => void;
  /** Tells what was expected and found to be so; or what differs. */
  readonly same: (text: string, actual: unknown, expected: unknown) => void;
  readonly holds: (text: string, condition: boolean) => void;
  readonly checks: () => { readonly passed: number; readonly failed: number };
}

export const tellStory = (print: (line: string) => void): Story => {
  let passed = 0;
  let failed = 0;
  const holds = (text: string, condition: boolean, difference?: () => string) => {
    if (condition) {
      passed += 1;
      return print(`  ok    ${text}`);
    }
    failed += 1;
    print(`  FAIL  ${text}${difference ? `\n${difference()}` : ''}`);
  };
  return {
    chapter: (title) => print(`\n${title}`),
    line: (text) => print(`        ${text}`),
    holds,
    same: (text, actual, expected) =>
      holds(
        text,
        isDeepStrictEqual(actual, expected),
        () => `          expected ${JSON.stringify(expected)}\n          found    ${JSON.stringify(actual)}`,
      ),
    checks: () => ({ passed, failed }),
  };
};
