import type { DomainMessage } from '../topics.ts';

/** Raised with a breaking change: the documents of the version before then stay as they are. */
export const VERSION = 'v1';

/** The name of the document that describes the data of a message type. */
export const documentOf = (type: DomainMessage['type']): string => `${type}.${VERSION}.json`;

/** What a message says in `dataschema`. */
export const dataSchemaOf = (type: DomainMessage['type']): string => `/schemas/${documentOf(type)}`;
