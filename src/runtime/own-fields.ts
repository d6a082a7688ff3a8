/**
 * The fields of an object from outside, such as options, without those of its prototype: a library may have put settings on the prototype of
 * all objects, by mistake or by an attack.
 */
export function ownFields<Fields extends object>(object: Fields | undefined): Fields {
  return { __proto__: null, ...object } as unknown as Fields
}

/** One field of an object from outside; undefined where the object itself has none. */
export function ownField<Value>(object: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined
}
