import { readdirSync } from 'node:fs';
import { setUp } from './setup.mjs';

/** The event store of production, with the settings of docker-compose.yml but in memory. */
const IMAGE = process.env.EVENTSTORE_IMAGE ?? 'eventstore/eventstore:24.10.0-bookworm-slim';
const PORT = 2113;
const ENVIRONMENT = {
  EVENTSTORE_CLUSTER_SIZE: '1',
  EVENTSTORE_INSECURE: 'true',
  EVENTSTORE_MEM_DB: 'true',
  EVENTSTORE_RUN_PROJECTIONS: 'None',
  EVENTSTORE_TELEMETRY_OPTOUT: 'true',
};

/** Why containers cannot run, or null.
 *  @type {(containers: typeof import('testcontainers')) => Promise<string | null>} */
const unavailableReason = async ({ getContainerRuntimeClient }) => {
  try {
    await getContainerRuntimeClient();
    return null;
  } catch (error) {
    return /** @type {Error} */ (error).message;
  }
};

await setUp();
const containers = await import('testcontainers'); // large, so it is loaded only here
const reason = await unavailableReason(containers);
if (reason === null) {
  const { GenericContainer, Wait } = containers;
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts(PORT)
    .withEnvironment(ENVIRONMENT)
    .withWaitStrategy(Wait.forHttp('/health/live', PORT).forStatusCodeMatching((code) => code >= 200 && code < 300))
    .start();
  process.env.EVENTSTORE_URL = `esdb://${container.getHost()}:${container.getMappedPort(PORT)}?tls=false`;
  try {
    await import('./conformance.mjs');
  } finally {
    await container.stop();
  }
} else {
  const folder = new URL('../packages/engines/embedded-eventstore/src/conformance', import.meta.url);
  console.log(
    `0 passed, 0 failed, ${readdirSync(folder).length} files skipped: no Docker engine is available: ${reason}`,
  );
}
