/**
 * A plugin for Babel: each function, branch, loop and operand of a logical expression adds to a counter of its own.
 *
 * @param {{ next(): number, words: Set<string> }} plan gives the numbers of the counters; takes the texts that the source contains
 */
export function countBranches({ next, words }) {
  return (/** @type {{ types: any }} */ { types }) => {
    const counted = () =>
      types.updateExpression(
        '++',
        types.memberExpression(types.identifier('__counters'), types.numericLiteral(next()), true),
      )
    const statement = () => types.expressionStatement(counted())
    const body = (/** @type {any} */ node) =>
      types.isBlockStatement(node)
        ? types.blockStatement([statement(), ...node.body], node.directives)
        : types.blockStatement([statement(), node])
    const operand = (/** @type {any} */ node) => types.sequenceExpression([counted(), node])
    const loop = {
      exit(/** @type {any} */ { node }) {
        node.body = body(node.body)
      },
    }
    return {
      visitor: {
        Function: {
          exit(/** @type {any} */ { node }) {
            node.body = types.isBlockStatement(node.body) ? body(node.body) : operand(node.body)
          },
        },
        IfStatement: {
          exit(/** @type {any} */ { node }) {
            node.consequent = body(node.consequent)
            node.alternate = node.alternate == null ? types.blockStatement([statement()]) : body(node.alternate)
          },
        },
        ConditionalExpression: {
          exit(/** @type {any} */ { node }) {
            node.consequent = operand(node.consequent)
            node.alternate = operand(node.alternate)
          },
        },
        LogicalExpression: {
          exit(/** @type {any} */ { node }) {
            node.right = operand(node.right)
          },
        },
        SwitchCase: {
          exit(/** @type {any} */ { node }) {
            node.consequent = [statement(), ...node.consequent]
          },
        },
        CatchClause: {
          exit(/** @type {any} */ { node }) {
            node.body = body(node.body)
          },
        },
        Loop: loop,
        StringLiteral(/** @type {any} */ { node }) {
          if (node.value.length > 0 && node.value.length <= 40) words.add(node.value)
        },
      },
    }
  }
}
