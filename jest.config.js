// Sources are run as they are: packages resolve to each other's src by the export condition "source".
const base = {
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { target: 'es2022', parser: { syntax: 'typescript' } }, module: { type: 'es6' } },
    ],
  },
  extensionsToTreatAsEsm: ['.ts'],
  testEnvironment: 'node',
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.data/'],
};

export default {
  projects: [
    {
      ...base,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,services}/*/src/**/*.test.ts'],
      testPathIgnorePatterns: ['\\.int\\.test\\.ts$', '/acceptance/'],
    },
    {
      ...base,
      displayName: 'integration',
      testMatch: ['<rootDir>/{packages,services}/*/src/**/*.int.test.ts'],
      globalSetup: '<rootDir>/scripts/jest/start-engines.ts',
      globalTeardown: '<rootDir>/scripts/jest/stop-engines.ts',
    },
    {
      ...base,
      displayName: 'apache-kafka',
      testMatch: [
        '<rootDir>/packages/embedded-kafka/src/conformance/*.int.test.ts',
        '<rootDir>/packages/kafka/src/{consume,publish,dead-letters}.int.test.ts',
      ],
      globalSetup: '<rootDir>/packages/embedded-kafka/src/testing/apache/global-setup.ts',
      globalTeardown: '<rootDir>/packages/embedded-kafka/src/testing/apache/global-teardown.ts',
      setupFilesAfterEnv: ['<rootDir>/packages/embedded-kafka/src/testing/apache/setup-file.ts'],
    },
    {
      ...base,
      displayName: 'acceptance',
      testMatch: ['<rootDir>/packages/acceptance/src/**/*.test.ts'],
      globalSetup: '<rootDir>/packages/acceptance/src/harness/global-setup.ts',
      globalTeardown: '<rootDir>/packages/acceptance/src/harness/global-teardown.ts',
    },
  ],
  testTimeout: 30_000,
};
