// Calls between the services, by the service that answers them.
export * from './headers.ts';
export * from './orders.ts';
export * from './payments.ts';
export * from './webhook-dispatcher.ts';
