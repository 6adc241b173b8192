// Names of event streams that several services read: a prefix and the id of an order.

export const ORDER_STREAM_PREFIX = 'order-';
export const orderStreamOf = (orderId: string): string => `${ORDER_STREAM_PREFIX}${orderId}`;

/** The stream of the record that an order was deleted. */
export const DELETION_STREAM_PREFIX = 'deletion-';
export const deletionStreamOf = (orderId: string): string => `${DELETION_STREAM_PREFIX}${orderId}`;
