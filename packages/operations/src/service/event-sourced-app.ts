import { createConcurrencyLimit, internalApp, type InternalAppOptions } from '@cpg/platform';
import { isTransientDatabaseError } from '@cpg/platform/postgres';

export type EventSourcedAppOptions = Omit<InternalAppOptions, 'isTransientError' | 'createLimit'>;

/** The HTTP server of an event-sourced service, for the other services. Only what creates is refused under load: reports
 *  and reads never are. */
export const eventSourcedApp = (
  options: EventSourcedAppOptions,
  routes: Parameters<typeof internalApp>[1],
): ReturnType<typeof internalApp> =>
  internalApp(
    { ...options, isTransientError: isTransientDatabaseError, createLimit: createConcurrencyLimit() },
    routes,
  );
