using Snapper.Apps.ListAppend.Contract;
using Snapper.Protocol.Identity;

namespace Snapper.Apps.ListAppend;

/// <summary>The exact access sets of ListAppend's methods: which keys a transaction touches and how many calls each gets.</summary>
public static class ListAppendAccess
{
    /// <summary>The actor type.</summary>
    public const string ActorType = "ListAppend";

    /// <summary>The access set of any method.</summary>
    /// <param name="method">Name of the method.</param>
    /// <param name="input">Its input; null for <c>Read</c>.</param>
    /// <param name="root">Id of the actor on which it is called.</param>
    /// <returns>For an input that the actor accepts: calls per actor, the root's own call included; each at least 1.</returns>
    /// <exception cref="ArgumentException">There is no such method, or it takes another type of input.</exception>
    public static Dictionary<ActorKey, int> AccessFor(string method, object? input, string root)
    {
        var access = new Dictionary<ActorKey, int> { [new ActorKey(ActorType, root)] = 1 };
        switch (method, input)
        {
            case (nameof(IListAppend.Append), AppendInput):
            case (nameof(IListAppend.Read), null):
                break;
            case (nameof(IListAppend.Execute), ExecuteInput execute):
                foreach (var op in execute.Ops)
                {
                    var key = new ActorKey(ActorType, op.Key);
                    access[key] = access.GetValueOrDefault(key) + 1;
                }

                break;
            default:
                throw new ArgumentException($"ListAppend has no method '{method}' that takes {input?.GetType().Name ?? "nothing"}.", nameof(method));
        }

        return access;
    }
}
