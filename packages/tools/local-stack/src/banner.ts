import { join } from 'node:path';
import { SAMPLE_ORDER } from './sample-orders.ts';
import type { RunningStack } from './stack.ts';

/** The text that the launcher prints when everything is ready. */
export const banner = (stack: RunningStack, seconds: number, paymentLink: string | null = null): string => `
  Ready in ${seconds.toFixed(1)} s.

  API          ${stack.baseUrl}
  Docs         ${stack.baseUrl}/docs   (OpenAPI: ${stack.baseUrl}/openapi.json)
  API key      ${stack.apiKey}   (also in ${join(stack.dataDir, 'sandbox.json')})

${linkHint(paymentLink)}  Create an order:

${createOrderCommand(stack)}
${payHint(stack)}
  EventStoreDB ${withoutCredentials(stack.eventstoreUrl)}
  Kafka        ${stack.kafkaBrokers}
  PostgreSQL   ${withoutCredentials(stack.databaseUrl)}   (URL with password: DATABASE_URL in ${join(stack.dataDir, 'environment.json')})

  Press Ctrl-C to stop. The data stays in ${stack.dataDir}; "npm run reset" deletes it.
`;

const linkHint = (paymentLink: string | null): string =>
  paymentLink === null ? '' : `  Pay as a customer: ${paymentLink}\n\n`;

const payHint = ({ chainUrl }: RunningStack): string =>
  chainUrl
    ? `
  Pay it on the chain of this machine (${chainUrl}):   npm run pay -- ORDER_ID
`
    : '';

/** A shell command that creates the sample order. */
export const createOrderCommand = ({ baseUrl, apiKey }: { baseUrl: string; apiKey: string }): string =>
  [
    `curl -sS -X POST '${baseUrl}/v1/orders' \\`,
    `  -H 'x-api-key: ${apiKey}' \\`,
    `  -H 'content-type: application/json' \\`,
    `  -d '${JSON.stringify(SAMPLE_ORDER, null, 2).replace(/\n/g, '\n  ')}'`,
  ].join('\n');

const withoutCredentials = (address: string): string => address.replace(/^([a-z+]+:\/\/).*@/, '$1');
