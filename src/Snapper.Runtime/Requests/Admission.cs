using Snapper.Protocol.Batches;
using Snapper.Runtime.Door;
using Snapper.Runtime.Execution;
using Snapper.Runtime.Json;

namespace Snapper.Runtime.Requests;

/// <summary>
/// Decides whether a request is let in: whether the worker takes any, whether it has the actor types and the method, whether the input fits and the
/// access set can be a PACT's. Changes nothing. Thread-safe.
/// </summary>
public sealed class Admission(Worker worker)
{
    /// <summary>What callers are told to wait when the worker is not ready for them.</summary>
    public static readonly TimeSpan ShortRetry = TimeSpan.FromSeconds(1);

    /// <summary>Checks a request.</summary>
    /// <param name="asked">The request; its form is right.</param>
    /// <param name="inFlight">Requests under way.</param>
    /// <param name="admitted">What was found out about it; meaningful when it is let in.</param>
    /// <returns>Null: it is let in.</returns>
    public Rejection? Check(TransactionRequest asked, int inFlight, out Admitted admitted)
    {
        admitted = default;
        if (Unready(asked, inFlight) is { } refusal)
        {
            return refusal;
        }

        var type = worker.FindType(asked.Actor.Type);
        var method = type?.Find(asked.Method);
        if (type is null || method is null)
        {
            var what = type is null ? $"actor type '{asked.Actor.Type}'" : $"method '{asked.Method}' of actor type '{asked.Actor.Type}'";
            return new Rejection(RejectionKind.NotFound, $"There is no {what}.");
        }

        if (asked.Undeclared is { } undeclared)
        {
            return undeclared;
        }

        if (!TryRead(asked, method, out var input, out var problem) || !TryDeclare(asked, out var declared, out problem))
        {
            return problem;
        }

        admitted = new Admitted(method, input, declared);
        return null;
    }

    private Rejection? Unready(TransactionRequest asked, int inFlight)
    {
        if (worker.Unavailability is { } why)
        {
            return new Rejection(RejectionKind.Unavailable, why, ShortRetry);
        }

        if (inFlight >= worker.Options.MaxInFlight || worker.SchedulingPolicy.RequestTakenForTooMany())
        {
            return new Rejection(RejectionKind.Overloaded, $"{worker.Options.MaxInFlight} requests are under way.", ShortRetry);
        }

        if (worker.QueuedLogBytes > worker.Options.MaxQueuedLogBytes)
        {
            return new Rejection(RejectionKind.Overloaded, "The log does not keep up.", ShortRetry);
        }

        return asked.Actor.Id.Length > NameRules.ActorIdLengthMax ? new Rejection(RejectionKind.Invalid, "The actor's id has more than 512 characters.") : null;
    }

    private static bool TryRead(TransactionRequest asked, RootMethod method, out object? input, out Rejection? problem)
    {
        if (asked.Read is { } read && ReferenceEquals(read.Reader, method))
        {
            input = read.Input;
            problem = null;
            return true;
        }

        try
        {
            input = method.ParseInput(asked.Input.Span);
            problem = null;
            return true;
        }
        catch (InputException wrong)
        {
            input = null;
            problem = new Rejection(RejectionKind.Invalid, $"The input does not fit {asked.Actor.Type}.{method.Name}: {wrong.Message}.");
            return false;
        }
    }

    private bool TryDeclare(TransactionRequest asked, out ActorAccess[]? declared, out Rejection? problem)
    {
        declared = null;
        problem = null;
        if (asked.Mode == TransactionMode.Act || asked.AccessMode == AccessMode.Record)
        {
            return true; // Record runs as an ACT and reports what it touched
        }

        var access = asked.Access;
        if (access is null)
        {
            problem = new Rejection(RejectionKind.Invalid, "A PACT needs an access set.");
            return false;
        }

        var hasRoot = false;
        declared = new ActorAccess[access.Length];
        for (var i = 0; i < access.Length; i++)
        {
            var actor = access[i].Actor;
            if (worker.FindType(actor.Type) is null)
            {
                problem = new Rejection(RejectionKind.NotFound, $"There is no actor type '{actor.Type}'; the access set names it.");
                return false;
            }

            hasRoot |= actor.Equals(asked.Actor);
            declared[i] = new ActorAccess(actor, Access.Whole, access[i].Calls);
        }

        if (!hasRoot)
        {
            problem = new Rejection(RejectionKind.Invalid, $"The access set does not contain the root {asked.Actor}.");
        }

        return hasRoot;
    }
}

/// <summary>A request that was let in.</summary>
/// <param name="Method">The root's method.</param>
/// <param name="Input">Its input, read; null for a method that takes none.</param>
/// <param name="Declared">A PACT's access set as the machines want it; null for an ACT.</param>
public readonly record struct Admitted(RootMethod Method, object? Input, ActorAccess[]? Declared);
