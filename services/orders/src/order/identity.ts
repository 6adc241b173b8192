/** The names of the event streams of orders start with this prefix. */
export const ORDER_STREAM_PREFIX = 'order-';

/** The event stream of an order. */
export const orderStreamOf = (orderId: string): string => `${ORDER_STREAM_PREFIX}${orderId}`;
