using Snapper.Runtime.Door;
using Snapper.Security;

namespace Snapper.AspNetCore.Api.Access;

/// <summary>Whether a caller may run a transaction: by its role, by the tenants whose names it may use, by the rules of the root's method. Null where nothing of it is configured.</summary>
/// <param name="methods">Rights per method.</param>
/// <param name="tenantsApart">Transactions stay within the tenant of their root.</param>
internal sealed class TransactionAuthorization(MethodRules methods, bool tenantsApart)
{
    /// <summary>Looks at a request that could be read.</summary>
    /// <returns>Null: it may run.</returns>
    public Rejection? Refusal(RequestCaller caller, TransactionRequest request)
    {
        var principal = caller.Principal;
        if (!principal.Role.Has(Right.Transact))
        {
            return Forbidden($"The role {principal.Role.Name()} runs no transactions.");
        }

        return (tenantsApart ? OfTenants(principal, request) : null)
            ?? (methods.Allow(principal, caller.App, request.Actor.Type, request.Method) ? null
                : Forbidden($"{principal.Name} may not start transactions with {request.Actor.Type}.{request.Method}."));
    }

    /// <summary>
    /// Looks at a read of states, for which no rule of a method speaks: the right to look inside, and tenants.
    /// </summary>
    /// <returns>Null: it may run.</returns>
    public Rejection? ReadRefusal(RequestCaller caller, TransactionRequest request)
    {
        foreach (var access in request.Access!)
        {
            if (!caller.Principal.MayName(access.Actor.Id))
            {
                return Forbidden(
                    $"{caller.Principal.Name} may only name actors whose ids begin with {Allowed(caller.Principal)}.");
            }
        }

        return tenantsApart ? OfTenants(caller.Principal, request) : null;
    }

    private static Rejection? OfTenants(Principal principal, TransactionRequest request)
    {
        var root = request.Actor.Id;
        if (!principal.MayName(root))
        {
            return Forbidden($"{principal.Name} may only name actors whose ids begin with {Allowed(principal)}.");
        }

        foreach (var access in request.Access ?? [])
        {
            if (!TenantNames.AreTogether(root, access.Actor.Id))
            {
                return Forbidden($"The access set names {access.Actor.Type}/{Answers.ClippedText.Of(access.Actor.Id)}, an actor of another tenant than the root's.");
            }
        }

        // Otherwise one tenant could learn of another's requests, or stand in their way, by their ids.
        return request.Id is { } id && principal.IsBound && !(principal.MayName(id) && TenantNames.AreTogether(root, id))
            ? Forbidden($"The id of the request must begin with {TenantNames.TenantOf(root)}/, as the actor's does.")
            : null;
    }

    private static string Allowed(Principal principal) => string.Join(" or ", principal.Tenants.Select(tenant => tenant + "/"));

    private static Rejection Forbidden(string detail) => new(RejectionKind.Forbidden, detail);
}
