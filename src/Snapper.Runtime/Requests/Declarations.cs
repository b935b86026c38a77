using Snapper.Actors;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Json;

namespace Snapper.Runtime.Requests;

/// <summary>
/// Turns requests that leave open how they run into PACTs, where the root's method declares its actors. Runs user code.
/// Thread-safe.
/// </summary>
/// <param name="tenantsApart">See <see cref="WorkerOptions.TenantsApart"/>.</param>
internal sealed class Declarations(bool tenantsApart)
{
    /// <summary>The request as its root's method declares it; or one that says why it could not.</summary>
    /// <param name="asked">The request; it leaves open how it runs.</param>
    /// <param name="method">The root's method, which declares.</param>
    public TransactionRequest Of(TransactionRequest asked, RootMethod method)
    {
        object? input;
        try
        {
            input = method.ParseInput(asked.Input.Span);
        }
        catch (InputException)
        {
            return asked; // the admission says so
        }

        var declaration = new Declaration(asked.Actor, TransactionRequest.ActorsMax);
        using (ValueCode.Enter())
        {
            try
            {
                method.Declare(declaration, asked.Actor.Id, input);
            }
            catch (Exception exception) when (!declaration.IsOverfull) // user code may throw anything
            {
                return Failed(asked, RejectionKind.Invalid, $"{What(asked)} failed: {exception.Words()}");
            }
            catch (Exception)
            {
                // what it names too many of is said below
            }
        }

        if (declaration.IsOverfull)
        {
            return Failed(asked, RejectionKind.TooMany,
                $"{What(asked)} names more than {TransactionRequest.ActorsMax} actors.");
        }

        var actors = declaration.Actors;
        var access = new DeclaredAccess[actors.Length];
        access[0] = new DeclaredAccess(asked.Actor, actors[0].Calls);
        for (var i = 1; i < access.Length; i++)
        {
            var actor = actors[i].Actor;
            if ((NameRules.ActorTypeError(actor.Type) ?? NameRules.ActorIdError(actor.Id)) is { } wrong)
            {
                return Failed(asked, RejectionKind.Invalid, $"{What(asked)} names an actor that cannot be: {wrong}.");
            }

            if (tenantsApart && !TenantNames.AreTogether(asked.Actor.Id, actor.Id))
            {
                return Failed(asked, RejectionKind.Forbidden,
                    $"{What(asked)} names {actor}, an actor of another tenant than the root's.");
            }

            access[i] = new DeclaredAccess(actor, actors[i].Calls);
        }

        return asked with
        {
            AccessSource = AccessSource.Method,
            Mode = TransactionMode.Pact,
            Access = access,
            // What the function may have changed is read again.
            Read = method.Method.InputIsImmutable ? new ReadInput(method, input) : null,
        };
    }

    /// <summary>The request with why its root's method has not declared anything.</summary>
    public static TransactionRequest Failed(
        TransactionRequest asked, RejectionKind kind, string why, TimeSpan? retryAfter = null) =>
        asked with { AccessSource = AccessSource.Method, Undeclared = new Rejection(kind, why, retryAfter) };

    /// <summary>The declaration, in words.</summary>
    public static string What(TransactionRequest asked) => $"The declaration of {asked.Actor.Type}.{asked.Method}";
}
