// Which folder may import which. CONTRIBUTING.md says how to read a failure.
const TESTS = '\\.test\\.ts$|/testing/';

/** Rooms of a folder, from the top down: none imports a room above it or a file beside the rooms, but the place of
 *  migrations. */
const roomsIn = (folder, ...rooms) =>
  rooms.map((room, n) => ({
    name: `${folder.replace(/^services\/|\/src/g, '')}-${room}-points-down`,
    comment: `The files beside the rooms put them together, from the top down: ${rooms.join(', ')}.`,
    from: { path: `^${folder}/${room}/`, pathNot: TESTS },
    to: {
      path: `^${folder}/(${[...rooms.slice(0, n).map((above) => `${above}/`), '[^/]+\\.tsx?$'].join('|')})`,
      pathNot: '/migrations\\.ts$',
    },
  }));

const roomsOf = (service, ...rooms) => roomsIn(`services/${service}/src`, ...rooms);

const forbidden = [
  {
    name: 'no-circles',
    comment: 'Files that import each other, types included, can only be read together.',
    from: {},
    to: { circular: true },
  },
  {
    name: 'packages-import-no-service',
    comment: 'packages/ are libraries. Tools that run the whole stack may.',
    from: { path: '^packages/', pathNot: '^packages/tools/' },
    to: { path: '^services/' },
  },
  {
    name: 'platform-is-the-ground',
    comment: 'packages/platform knows neither events nor coins.',
    from: { path: '^packages/platform/', pathNot: TESTS },
    to: { path: '^packages/(assets|event-sourcing|operations|engines|tools)/' },
  },
  {
    name: 'event-sourcing-imports-no-operations',
    comment: 'Operations are made of event sourcing, not the other way round.',
    from: { path: '^packages/event-sourcing/' },
    to: { path: '^packages/(assets|operations)/' },
  },
  {
    name: 'platform-rooms',
    comment: 'The rest of platform needs neither PostgreSQL nor Kafka.',
    from: { path: '^packages/platform/src/(?!postgres/|kafka/|index)', pathNot: TESTS },
    to: { path: '^packages/platform/src/(postgres|kafka)/' },
  },
  {
    name: 'platform-settings-first',
    comment: 'Settings are read before anything else starts.',
    from: { path: '^packages/platform/src/config/', pathNot: TESTS },
    to: { path: '^packages/platform/src/(?!config/|network/)' },
  },
  {
    name: 'kafka-and-postgres-are-apart',
    comment: 'A service may use one of them alone.',
    from: { path: '^packages/platform/src/(postgres|kafka)/', pathNot: TESTS },
    to: { path: '^packages/platform/src/(postgres|kafka)/', pathNot: '^packages/platform/src/$1/' },
  },
  {
    name: 'event-sourcing-rooms',
    comment: 'followers -> subscriptions -> store, and aggregate -> store.',
    from: { path: '^packages/event-sourcing/src/(store|aggregate|subscriptions)/', pathNot: TESTS },
    to: {
      path: '^packages/event-sourcing/src/(aggregate|subscriptions|followers)/',
      pathNot: '^packages/event-sourcing/src/$1/',
    },
  },
  {
    name: 'operations-rooms',
    comment: 'commands -> reconcile -> service -> read-models. Read models are rebuilt and compared without the rest.',
    from: { path: '^packages/operations/src/read-models/', pathNot: TESTS },
    to: { path: '^packages/operations/src/(?!read-models/)' },
  },
  {
    name: 'operations-services-run-alone',
    comment: 'Services run without the commands of operators.',
    from: { path: '^packages/operations/src/(service|reconcile)/', pathNot: TESTS },
    to: { path: '^packages/operations/src/(commands|reconcile)/', pathNot: '^packages/operations/src/$1/' },
  },
  {
    name: 'engines-are-not-the-product',
    comment: 'Services and their libraries speak to engines by address. Only tests and tools start them.',
    from: { path: '^(services|packages)/', pathNot: `${TESTS}|^packages/(engines|tools)/` },
    to: { path: '^packages/(engines|tools)/' },
  },
  {
    name: 'shops-import-the-sdk-alone',
    comment: 'Plugins run at the merchant, and know the gateway by its API.',
    from: { path: '^packages/shops/', pathNot: TESTS },
    to: { path: '^packages/(?!shops/|sdk/)|^services/' },
  },
  {
    name: 'dashboard-imports-the-sdk-alone',
    comment: 'The dashboard runs in browsers, and knows the gateway by its API.',
    from: { path: '^packages/dashboard/' },
    to: { path: '^packages/(?!dashboard/|sdk/)|^services/' },
  },
  {
    name: 'dashboard-logic-needs-no-react',
    comment: 'Its tests run in Node.js, without a page.',
    from: { path: '^packages/dashboard/src/lib/' },
    to: { path: '^packages/dashboard/src/(?!lib/)|/node_modules/(react|@mantine|@tanstack)' },
  },
  {
    name: 'services-import-no-service',
    comment: 'Services share messages (packages/contracts), never code.',
    from: { path: '^services/([^/]+)/', pathNot: `^services/(?:payments|gateway)/.*(${TESTS})` },
    to: { path: '^services/', pathNot: '^services/$1/' },
  },
  {
    name: 'contracts-import-zod-alone',
    comment: 'Every process and every reader of events depends on packages/contracts. It also hashes, for ids.',
    from: { path: '^packages/contracts/src/', pathNot: `${TESTS}|/publish/` },
    to: { pathNot: '^packages/contracts/src/|(^|/)node_modules/zod/|^(node:)?crypto$' },
  },
  {
    name: 'rules-are-pure',
    comment: 'Rules of orders and payments read no clock, network, file or database.',
    from: { path: '^services/(orders/src/order|payments/src/payment)/', pathNot: TESTS },
    to: {
      pathNot:
        '^services/(orders/src/order|payments/src/payment)/|^packages/(contracts|assets)/|^packages/event-sourcing/src/decider|/node_modules/zod/',
    },
  },
  ...roomsOf('gateway', 'admin', 'openapi', 'dashboard', 'checkout', 'api', 'door'),
  ...roomsIn('services/gateway/src/checkout', 'browser', 'live', 'refund-claim', 'view', 'sandbox', 'state'),
  {
    name: 'gateway-writes-openapi-from-outside',
    comment: 'openapi-file starts the whole app to write openapi.json, so nothing of the app knows it.',
    from: { path: '^services/gateway/src/(?!openapi-file/)' },
    to: { path: '^services/gateway/src/openapi-file/' },
  },
  {
    name: 'lists-know-no-resource',
    comment: 'Pages and cursors are the same for every resource.',
    from: { path: '^services/gateway/src/api/lists/', pathNot: TESTS },
    to: { path: '^services/gateway/src/api/(?!lists/)[^/]+/' },
  },
  ...roomsOf('orders', 'deadlines', 'payments', 'create', 'commands', 'rates', 'read', 'order'),
  ...roomsOf('webhook-dispatcher', 'maintenance', 'replay', 'ingest', 'queue', 'attempts', 'webhooks', 'delivery'),
  ...roomsOf('payments', 'rails', 'chains', 'matching', 'read', 'books', 'addresses', 'payables', 'payment'),
  {
    name: 'chains-are-read-through-chain-source',
    comment: 'Reading and reporting know blocks and transfers, not the kind of chain.',
    from: { path: '^services/payments/src/chains/(reading|reporting)/', pathNot: TESTS },
    to: { path: '^services/payments/src/chains/(evm|bitcoin|operator)/' },
  },
  {
    name: 'nodes-and-sources-know-no-reading',
    comment: 'A node answers about blocks. What was read before, and what is reported, is none of its business.',
    from: { path: '^services/payments/src/chains/(nodes|evm|bitcoin)/', pathNot: TESTS },
    to: {
      path: '^services/payments/src/(matching|payables|payment)/|^services/payments/src/chains/(reading|reporting|operator)/',
    },
  },
  {
    name: 'reading-makes-no-payments',
    comment: 'Blocks are read whether or not orders can be paid. Reporting follows reading.',
    from: { path: '^services/payments/src/chains/reading/', pathNot: TESTS },
    to: { path: '^services/payments/src/(matching|payment)/|^services/payments/src/chains/reporting/' },
  },
  {
    name: 'harness-is-below-the-runs',
    comment:
      'Tests, demo, benchmarks and chaos runs use the harness of packages/tools/acceptance. It knows none of them.',
    from: { path: '^packages/tools/acceptance/src/harness/' },
    to: { path: '^packages/tools/acceptance/src/', pathNot: '^packages/tools/acceptance/src/harness/' },
  },
  {
    name: 'launcher-knows-no-test',
    comment: 'npm start runs without the tests and benchmarks that run it.',
    from: { path: '^packages/tools/(local-stack|ports)/' },
    to: { path: '^packages/tools/acceptance/' },
  },
  {
    name: 'declared-dependencies',
    comment: 'The package.json of the folder that imports a library names it.',
    from: { path: '^(packages|services)/' },
    // An optional peer is `npm-no-pkg` besides `npm-peer`.
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown'], dependencyTypesNot: ['npm-peer'] },
  },
];

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: forbidden.map((rule) => ({ ...rule, severity: 'error' })),
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: {
      path: '(^|/)(dist|\\.medusa)/|^packages/shops/[^/]+/src/shop/|^packages/tools/acceptance/(clients|shops)/|^\\.data/',
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.base.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['source', 'import', 'node', 'default', 'types'],
    },
  },
};
