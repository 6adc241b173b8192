// Packages resolve to each other's sources by the export condition "source": tests need no build, except those of packages/tools/acceptance.
//
// The name of a test file decides when it runs:
//   x.test.ts                  needs nothing running                       npm test, project "unit"
//   x.int.test.ts              needs PostgreSQL or an engine               npm test, project "integration"
//   packages/tools/acceptance/src/   needs the whole stack, which files share    npm test, project "acceptance"
//   …/acceptance/src/shops/    sells in real shops, which have to be         npm run test:shops, project "shops"; npm run
//                                installed                                      test:extended where they are installed
//   x.extended.test.ts, x.extended.int.test.ts: slow, or needs more        npm run test:extended, projects "extended" and
//     than Node.js; starts what it needs                                     "extended-integration"
//   x.int.test.ts in a folder of EXTENDED_FOLDERS                          the same
// The files of IN_BOTH run in both, and do more where EXTENDED=1, which `npm run test:extended` sets.
const swc = (tsx) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2022',
      parser: { syntax: 'typescript', tsx },
      transform: { react: { runtime: 'automatic', importSource: 'preact' } },
    },
    module: { type: 'es6' },
  },
];
const base = {
  transform: { '^.+\\.ts$': swc(false), '^.+\\.tsx$': swc(true) },
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  testEnvironmentOptions: { customExportConditions: ['source', 'node', 'node-addons'] },
  modulePathIgnorePatterns: ['<rootDir>/.*/dist/', '<rootDir>/.data/'],
};
const EXTENDED = '\\.extended\\.(int\\.)?test\\.ts$';
const INTEGRATION = '\\.int\\.test\\.ts$';
const SHOPS = '/tools/acceptance/src/shops/';
const IN_BOTH = [
  '<rootDir>/services/orders/src/order/order.properties.test.ts',
  '<rootDir>/services/payments/src/matching/with-orders.properties.test.ts',
  '<rootDir>/services/payments/src/chains/reading/watcher.properties.test.ts',
];
// Folders whose integration tests are all extended ones: they refine what the tests of the services check with the same
// code below them, or change only when commands of operators change.
const EXTENDED_FOLDERS = [
  'packages/engines/*',
  'packages/event-sourcing/src/{followers,store,subscriptions}',
  'packages/operations/src/{commands,read-models,reconcile}',
  'packages/platform/src/kafka',
  'packages/tools/*',
  'services/gateway/src/{admin,openapi}',
  'services/payments/src/books',
  'services/webhook-dispatcher/src/{maintenance,replay}',
];
const engines = {
  globalSetup: '<rootDir>/scripts/jest/start-engines.ts',
  globalTeardown: '<rootDir>/scripts/jest/stop-engines.ts',
  setupFilesAfterEnv: ['<rootDir>/packages/platform/src/postgres/testing/jest-one-query-at-a-time.ts'],
};

export default {
  projects: [
    {
      ...base,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,packages/engines,packages/shops,packages/tools,services}/*/src/**/*.test.ts'],
      testPathIgnorePatterns: [EXTENDED, INTEGRATION, '/acceptance/'],
    },
    {
      ...base,
      ...engines,
      displayName: 'integration',
      testMatch: [
        '<rootDir>/{packages,packages/engines,packages/shops,packages/tools,services}/*/src/**/*.int.test.ts',
        ...EXTENDED_FOLDERS.map((folder) => `!**/${folder}/**`),
      ],
      testPathIgnorePatterns: [EXTENDED],
    },
    {
      ...base,
      displayName: 'acceptance',
      testMatch: ['<rootDir>/packages/tools/acceptance/src/**/*.test.ts'],
      testPathIgnorePatterns: [EXTENDED, SHOPS],
      globalSetup: '<rootDir>/packages/tools/acceptance/src/harness/global-setup.ts',
      globalTeardown: '<rootDir>/packages/tools/acceptance/src/harness/global-teardown.ts',
    },
    {
      ...base,
      displayName: 'shops',
      testMatch: [`<rootDir>/packages${SHOPS}**/*.test.ts`],
      globalSetup: '<rootDir>/packages/tools/acceptance/src/shops/setup/global-setup.ts',
      globalTeardown: '<rootDir>/packages/tools/acceptance/src/shops/setup/global-teardown.ts',
    },
    {
      ...base,
      displayName: 'extended',
      testMatch: [
        '<rootDir>/{packages,packages/engines,packages/shops,packages/tools,services}/*/src/**/*.extended.test.ts',
        ...IN_BOTH,
      ],
    },
    {
      ...base,
      ...engines,
      displayName: 'extended-integration',
      testMatch: [
        '<rootDir>/{packages,packages/engines,packages/shops,packages/tools,services}/*/src/**/*.extended.int.test.ts',
        ...EXTENDED_FOLDERS.map((folder) => `<rootDir>/${folder}/**/*.int.test.ts`),
      ],
    },
    {
      // Tests of the embedded Kafka and of our clients, against the real one.
      ...base,
      displayName: 'apache-kafka',
      testMatch: [
        '<rootDir>/packages/engines/embedded-kafka/src/conformance/*.int.test.ts',
        '<rootDir>/packages/platform/src/kafka/{consume,consume-waits.extended,publisher,dead-letters}.int.test.ts',
      ],
      globalSetup: '<rootDir>/packages/engines/embedded-kafka/src/testing/apache/global-setup.ts',
      globalTeardown: '<rootDir>/packages/engines/embedded-kafka/src/testing/apache/global-teardown.ts',
      setupFilesAfterEnv: ['<rootDir>/packages/engines/embedded-kafka/src/testing/apache/setup-file.ts'],
    },
  ],
  // Ends only tests that hang, also on a machine with ten times the work: no test measures speed by it.
  testTimeout: 180_000,
  // On Node.js 20 each promise copies the async storage of every earlier test file, so a large worker is started again.
  workerIdleMemoryLimit: '700MB',
};
