import tseslint from 'typescript-eslint';
export default tseslint.config(
  { ignores: ['**/dist/', '**/node_modules/', '.data/', 'docs/', '**/generated/', 'scripts/**', '*.js', '**/bench/**', '**/examples/**'] },
  { files: ['**/*.ts', '**/*.tsx'], plugins: { '@typescript-eslint': tseslint.plugin }, linterOptions: { reportUnusedDisableDirectives: 'off' },
    languageOptions: { parser: tseslint.parser, parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: { '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: true } }] } },
);
