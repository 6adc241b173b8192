/** The event stream of an order. */
export const orderStreamOf = (orderId: string): string => `order-${orderId}`;
