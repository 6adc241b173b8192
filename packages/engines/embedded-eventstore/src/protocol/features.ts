import featuresPb from '@eventstore/db-client/generated/serverfeatures_pb.js';
import type { ServiceDefinition } from '@grpc/grpc-js';

/** The version of EventStoreDB that this server imitates. */
const SERVER_VERSION = '24.2.0';

const FEATURES: Record<string, readonly string[]> = {
  'event_store.client.streams.streams/read': ['position', 'events'],
};
// Listed although every call is refused: for an unlisted method the client falls back to HTTP, or reports that the
// server version does not support it.
const PERSISTENT_SUBSCRIPTIONS = 'event_store.client.persistent_subscriptions.persistentsubscriptions';

const featuresOf = (service: string, name: string): readonly string[] =>
  service === PERSISTENT_SUBSCRIPTIONS ? ['stream', 'all'] : (FEATURES[`${service}/${name}`] ?? []);

/** Lists every method of `services` as supported. */
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
