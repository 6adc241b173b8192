import js from '@eslint/js';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

const UNCOLLECTED_TIMEOUTS = {
  selector:
    'CallExpression[callee.object.name="AbortSignal"][callee.property.name="any"] MemberExpression[object.name="AbortSignal"][property.name="timeout"]',
  message: 'The timeout may be collected as garbage before it fires: use withTimeoutSignal.',
};
const WALL_CLOCK_MESSAGE =
  'The wall clock jumps: measure durations by performance.now() or the option nowMs. For a time that is stored or shown, use the option now, or wallClock of @cpg/platform.';
const WALL_CLOCK = [
  'MemberExpression[object.name="Date"][property.name="now"]',
  'NewExpression[callee.name="Date"][arguments.length=0]',
  'CallExpression[callee.name="Date"]',
].map((selector) => ({ selector, message: WALL_CLOCK_MESSAGE }));

export default tseslint.config(
  {
    ignores: [
      '**/dist/',
      '**/.medusa/',
      '**/node_modules/',
      '.data/',
      'docs/',
      '**/generated/',
      'packages/tools/acceptance/clients/',
      'packages/tools/acceptance/shops/',
      'packages/shops/*/src/shop/',
    ],
  },
  js.configs.recommended,
  {
    // A regular expression takes time in proportion to its text: strangers choose texts of 256 KiB.
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential', ignorePartial: false, ignoreSticky: false }],
    },
  },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.recommendedTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Rules that the compiler covers, or that reject readable code.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': 'off',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/prefer-promise-reject-errors': 'off',
      // kafkajs returns objects of functions that are meant to be destructured.
      '@typescript-eslint/unbound-method': 'off',
      'no-restricted-syntax': ['error', UNCOLLECTED_TIMEOUTS, ...WALL_CLOCK],
    },
  },
  {
    files: [
      'packages/platform/src/clock/own-clocks.ts',
      'packages/dashboard/src/lib/clock.ts',
      // Run at the merchant's, without packages of ours.
      'packages/sdk/src/**',
      'packages/shops/*/src/**',
      // The monotonic clock of a browser stands still while its device sleeps.
      'services/gateway/src/checkout/browser/**',
      '**/*.test.ts',
      '**/testing/**/*.ts',
      'packages/tools/acceptance/**/*.ts',
      '**/bench/**',
      '**/examples/**',
    ],
    rules: { 'no-restricted-syntax': ['error', UNCOLLECTED_TIMEOUTS] },
  },
  {
    // Responses and rows are of type any in tests, which check their shape.
    files: ['**/*.test.ts', '**/testing/**/*.ts', 'packages/tools/acceptance/**/*.ts'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
    },
  },
  {
    files: ['scripts/**', '*.js', '**/bench/**', '**/examples/**', 'packages/sdk/**/*.mjs', 'packages/shops/*.mjs'],
    extends: [tseslint.configs.disableTypeChecked],
    languageOptions: {
      globals: {
        process: 'readonly',
        console: 'readonly',
        setTimeout: 'readonly',
        clearTimeout: 'readonly',
        URL: 'readonly',
        Buffer: 'readonly',
        fetch: 'readonly',
        performance: 'readonly',
      },
    },
  },
);
