using System.Text.Json;
using Snapper.AspNetCore.Api.Answers;
using Snapper.Sidecar.Hosting;

namespace Snapper.AspNetCore.Api.Requests;

/// <summary>What is wrong with a body that a serializer refused.</summary>
internal static class BodyErrors
{
    /// <summary>Says it without the names of our classes, which the serializer's own words hold.</summary>
    /// <param name="wrong">What the serializer threw.</param>
    /// <param name="fields">The fields that the body has.</param>
    public static string Words(JsonException wrong, string fields) => wrong.InnerException is JsonException broken
        ? JsonProblem.Of(broken)
        : $"The body is wrong at {ClippedText.Of(wrong.Path ?? "$")}: there is no such field here, it is repeated, or "
            + $"its value is not of the field's type. Fields are {fields}.";
}
