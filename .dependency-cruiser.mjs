// Which folder may import which. CONTRIBUTING.md says how to read a failure.
const TESTS = '\\.test\\.ts$|/testing/';

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    {
      name: 'no-circles',
      comment: 'Files that import each other, types included, can only be read together.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'packages-import-no-service',
      comment: 'packages/ are libraries. Tools that run the whole stack may.',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/(acceptance|local-stack)/' },
      to: { path: '^services/' },
    },
    {
      name: 'services-import-no-service',
      comment: 'Services share messages (packages/contracts), never code.',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: `^services/payments/.*(${TESTS})` },
      to: { path: '^services/', pathNot: '^services/$1/' },
    },
    {
      name: 'contracts-import-zod-alone',
      comment: 'Every process and every reader of events depends on packages/contracts.',
      severity: 'error',
      from: { path: '^packages/contracts/src/', pathNot: `${TESTS}|/publish/` },
      to: { pathNot: '^packages/contracts/src/|(^|/)node_modules/zod/' },
    },
    {
      name: 'rules-are-pure',
      comment: 'Rules of orders and payments read no clock, network, file or database.',
      severity: 'error',
      // identity.ts and repeat.ts make ids by ulidOf, a hash.
      from: {
        path: '^services/(orders/src/order|payments/src/payment)/',
        pathNot: `${TESTS}|/payment/identity\\.ts$|/order/repeat\\.ts$`,
      },
      to: {
        pathNot:
          '^services/(orders/src/order|payments/src/payment)/|^packages/(contracts|assets|core)/|/node_modules/zod/',
      },
    },
    {
      name: 'declared-dependencies',
      comment: 'The package.json of the folder that imports a library names it.',
      severity: 'error',
      from: { path: '^(packages|services)/' },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)dist/|^\\.data/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default', 'types'],
    },
  },
};
