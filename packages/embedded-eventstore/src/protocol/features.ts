import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { ServiceDefinition } from '@grpc/grpc-js';

/** Version of EventStoreDB whose behaviour is followed. */
const SERVER_VERSION = '24.2.0';

const FEATURES: Record<string, readonly string[]> = {
  'event_store.client.streams.streams/read': ['position', 'events'],
};
// Persistent subscriptions are refused, yet listed: without them the client falls back to HTTP or reports a wrong version.
const PERSISTENT_SUBSCRIPTIONS = 'event_store.client.persistent_subscriptions.persistentsubscriptions';

const featuresOf = (service: string, name: string): readonly string[] =>
  service === PERSISTENT_SUBSCRIPTIONS ? ['stream', 'all'] : (FEATURES[`${service}/${name}`] ?? []);

/** What clients may call: every method of `services`. */
export const supportedMethods = (services: readonly ServiceDefinition[]): featuresPb.SupportedMethods => {
  const supported = new featuresPb.SupportedMethods();
  supported.setEventStoreServerVersion(SERVER_VERSION);
  for (const { path } of services.flatMap((service) => Object.values(service))) {
    const [, service = '', name = ''] = path.toLowerCase().split('/');
    const method = new featuresPb.SupportedMethod();
    method.setServiceName(service);
    method.setMethodName(name);
    method.setFeaturesList([...featuresOf(service, name)]);
    supported.addMethods(method);
  }
  return supported;
};
