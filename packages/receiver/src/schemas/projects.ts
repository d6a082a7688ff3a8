import { type Static, Type } from '@sinclair/typebox'
import { nameSchema } from './names.js'

/** The operations that a project's plan allows. */
export const planSchema = Type.Object(
  { content: Type.Boolean({ description: 'Whether content operations are allowed; 412 when not' }) },
  { additionalProperties: false, title: 'plan' },
)
export type Plan = Static<typeof planSchema>

/** Body of `POST /api/projects`. */
export const newProjectSchema = Type.Object({ id: nameSchema }, { additionalProperties: false, title: 'project' })

export const projectSchema = Type.Object(
  { id: Type.String(), plan: planSchema },
  { additionalProperties: false, title: 'stored project' },
)
export type Project = Static<typeof projectSchema>
