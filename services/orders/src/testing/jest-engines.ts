import { startEventStore } from '@cpg/embedded-eventstore';
import { type FaultOf, withFaults } from '@cpg/embedded-eventstore/testing';
import { startKafka } from '@cpg/embedded-kafka';
import { testDatabase } from '@cpg/platform/postgres/testing';

/** A database for the service, an event store and a Kafka, each empty. */
export const startEngines = async (appendFaults?: FaultOf) => {
  const [database, forEvents, forKafka] = await Promise.all([testDatabase(), testDatabase(), testDatabase()]);
  const [eventStore, kafka] = await Promise.all([
    startEventStore({
      databaseUrl: forEvents.url,
      port: 0,
      ...(appendFaults && { wrapWriter: withFaults(appendFaults) }),
    }),
    startKafka({ databaseUrl: forKafka.url, port: 0 }),
  ]);
  return {
    databaseUrl: database.url,
    eventStoreUrl: eventStore.url,
    brokers: kafka.brokers,
    stop: async () => {
      await Promise.all([eventStore.stop(), kafka.stop()]);
      await Promise.all([database, forEvents, forKafka].map((each) => each.drop()));
    },
  };
};
