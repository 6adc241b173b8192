import { isDeepStrictEqual } from 'node:util';

/** The output of the demo. It counts its checks. */
export interface Report {
  readonly section: (title: string) => void;
  readonly line: (text: string) => void;
  /** Prints whether the values are equal, and the difference if not. */
  readonly equal: (text: string, actual: unknown, expected: unknown) => void;
  readonly isTrue: (text: string, condition: boolean) => void;
  readonly checks: () => { readonly passed: number; readonly failed: number };
}

export const createReport = (print: (line: string) => void): Report => {
  let passed = 0;
  let failed = 0;
  const isTrue = (text: string, condition: boolean, difference?: () => string) => {
    if (condition) {
      passed += 1;
      return print(`  ok    ${text}`);
    }
    failed += 1;
    print(`  FAIL  ${text}${difference ? `\n${difference()}` : ''}`);
  };
  return {
    section: (title) => print(`\n${title}`),
    line: (text) => print(`        ${text}`),
    isTrue,
    equal: (text, actual, expected) =>
      isTrue(
        text,
        isDeepStrictEqual(actual, expected),
        () => `          expected ${JSON.stringify(expected)}\n          found    ${JSON.stringify(actual)}`,
      ),
    checks: () => ({ passed, failed }),
  };
};
