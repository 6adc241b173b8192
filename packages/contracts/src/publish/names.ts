import type { DomainMessage } from '../topics.ts';

/** Version of the published schemas. A breaking change raises it; the documents of earlier versions stay unchanged. */
export const VERSION = 'v1';

/** File name of the schema of a message type's data. */
export const documentOf = (type: DomainMessage['type']): string => `${type}.${VERSION}.json`;

/** Value of the `dataschema` attribute of a message. */
export const dataSchemaOf = (type: DomainMessage['type']): string => `/schemas/${documentOf(type)}`;
